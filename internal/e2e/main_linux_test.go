package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"talkingstick/internal/clitest"
	"talkingstick/internal/testenv"
)

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "runner":
		serve(&runner{})
		os.Exit(0)

	case "tt-worker":
		if len(os.Args) > 1 && filepath.Base(os.Args[1]) == "runner" {
			os.Exit(clitest.Harness(os.Args[1:])) // a worker's command, without its task
		}

	case "hog":
		hog()
		os.Exit(0)
	case "client":
		serve(newClient())
		os.Exit(0)
	case "actor":
		serve(newActor())
		os.Exit(0)
	}

	clitest.Main()
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		fmt.Fprintln(os.Stderr, "the test binary was started as a guardian, under the wrong name")
		os.Exit(1)
	}

	flag.Parse()
	adopt()
	status := testenv.Run(m)
	if built != "" {
		if err := os.RemoveAll(built); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	os.Exit(status)
}
