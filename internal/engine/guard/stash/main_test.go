package stash

import (
	"os"
	"testing"

	"talkingstick/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m)) }
