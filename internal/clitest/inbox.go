//go:build unix

package clitest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
)

// The variables by which a test gives the harness that it plays an inbox, as Claude Code names them.
const (
	InboxSocket = "CLAUDE_CODE_MESSAGING_SOCKET"
	InboxToken  = "CLAUDE_CODE_MESSAGING_TOKEN"
)

// InboxTexts is what the file of the texts is called, behind the path of the socket. Each text ends with a
// line that says so.
const InboxTexts = ".texts"

// serveInbox takes texts on the socket that the environment names, if it names one, and adds them to a file.
func serveInbox() error {
	path := os.Getenv(InboxSocket)
	if path == "" {
		return nil
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	go func() { // ends with the harness
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			takeText(c, path+InboxTexts)
		}
	}()
	return nil
}

func takeText(c net.Conn, file string) {
	defer c.Close()
	proved := false

	for lines := bufio.NewScanner(c); lines.Scan(); {
		var line struct {
			Type, Token string
			Message     struct{ Content string }
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			return
		}
		switch {
		case line.Type == "auth":
			proved = line.Token == os.Getenv(InboxToken)
		case line.Type == "user" && proved:
			f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(f, "%s\nend of a text\n", strings.TrimSpace(line.Message.Content))
			f.Close()
		}
	}
}
