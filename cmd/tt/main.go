// Command tt is Talking Stick.
package main

import (
	"os"

	"talkingstick/internal/cli"
)

func main() { os.Exit(cli.Main(cli.System())) }
