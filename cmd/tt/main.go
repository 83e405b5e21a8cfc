// Command tt is Talking Stick.
package main

import (
	"os"

	"talkingstick/internal/cli"
	"talkingstick/internal/cli/app"
)

func main() { os.Exit(cli.Main(app.System())) }
