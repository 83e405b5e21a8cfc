// Command tt-full is Talking Stick with the commands that serve MCP, pages and the screen. tt, which lies beside
// it, hands these over.
package main

import (
	"os"

	"talkingstick/internal/cli"
	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/full"
)

func main() { os.Exit(cli.Main(app.FullSystem(full.Commands()))) }
