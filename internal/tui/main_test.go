//go:build unix

package tui_test

import (
	"os"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/testenv"
)

func TestMain(m *testing.M) {
	clitest.Main()
	os.Exit(testenv.Run(m))
}
