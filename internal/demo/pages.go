package demo

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// startServing starts tt serve on the scene's rooms, which a person may watch in a browser while it is
// played.
func (s *scene) startServing() error {
	c := exec.Command(s.program, "serve", "--json")
	c.Dir, c.Env = s.repo, s.env
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}

	if err := c.Start(); err != nil {
		return err
	}
	s.pages = c

	var said struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		return fmt.Errorf("tt serve: %w", err)
	}

	s.report.Pages = said.URL
	s.printText("", "", "")
	s.printText("", "", "Watch it in a browser. This address works once, for one browser:")
	s.printText("  ", "", said.URL)
	return nil
}

// stopServing ends the server.
func (s *scene) stopServing() {
	if s.pages == nil {
		return
	}

	// On Windows no process can interrupt another one.
	if runtime.GOOS == "windows" || s.pages.Process.Signal(os.Interrupt) != nil {
		_ = s.pages.Process.Kill()
	}
	_ = s.pages.Wait() // it has no exit status that says something
}

// holdPages leaves the pages open after the last step, until the person goes on.
func (s *scene) holdPages() error {
	if s.pages == nil || s.pause == nil {
		return nil
	}
	s.printText("", "", "")
	s.printText("", "", "The pages stay until you go on.")
	return s.pause(s.ctx, 0)
}
