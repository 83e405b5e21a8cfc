package install

import (
	"os"
	"testing"

	"talkingstick/internal/testenv"
)

func TestMain(m *testing.M) {
	if o := os.Getenv(orderEnv); o != "" {
		os.Exit(obey(o))
	}
	os.Exit(testenv.Run(m))
}
