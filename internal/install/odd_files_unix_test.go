//go:build unix

package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// oddFiles are what may lie in place of a file, each with what an error says of it.
var oddFiles = []struct {
	name  string
	says  stick.Words
	place func(path string) error
}{
	{"a FIFO", confedit.NotRegular, func(path string) error { return syscall.Mkfifo(path, 0o600) }},
	{"a link to a FIFO", confedit.NotRegular, func(path string) error {
		if err := syscall.Mkfifo(path+".fifo", 0o600); err != nil {
			return err
		}
		return os.Symlink(path+".fifo", path)
	}},
	{"a link to itself", confedit.Loop, func(path string) error { return os.Symlink(filepath.Base(path), path) }},
	{"a directory", confedit.NotRegular, func(path string) error { return os.Mkdir(path, 0o700) }},
	{"50 MB", stick.Words(confedit.TooLarge), func(path string) error {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 50<<20)
	}},
}

// TestOddFilesAreRefusedByName puts a FIFO, a loop of links, a directory and 50 MB in place of each file of
// each harness. Nothing waits for them, and what would read or write the file names it and changes nothing.
func TestOddFilesAreRefusedByName(t *testing.T) {
	isShort := testenv.Leaves(t, testenv.Every, "five of six odd things in place of files")
	played := 0
	for _, project := range []bool{false, true} {
		for _, row := range harness.Rows {
			for _, file := range filesOf(t, row, project) {
				for _, odd := range oddFiles {
					played++
					if isShort && played%6 != 0 { // six has no factor in common with the number of odd things
						continue
					}

					t.Run(fmt.Sprintf("%s, project %v, %s, %s",
						row.Name, project, filepath.Base(file), odd.name), func(t *testing.T) {
						w := newMachine(t)
						if project {
							w.inProject()
						}
						path := filepath.Join(w.root, file)
						if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
							t.Fatal(err)
						}

						if err := odd.place(path); err != nil {
							t.Fatal(err)
						}

						refused := func(what string, do func() error) {
							t.Helper()
							e := stick.AsError(inTime(t, do))
							if e == nil ||
								e.Code != stick.CodeConfigUnwritable ||
								e.Fields["path"] != path ||
								!strings.HasPrefix(e.Message, string(stick.Wordsf("%s %s", path, odd.says))) {
								t.Errorf("%s: %+v", what, e)
							}
						}

						names := []string{row.Name}
						refused("install", func() error { _, err := Install(w.t, names); return err })
						refused("uninstall", func() error { _, err := Uninstall(w.t, names); return err })
						refused("doctor", func() error { return checked(w.t, row, path, odd.says) })
					})
				}
			}
		}
	}
}

// checked returns what the doctor finds as the refusal of a file. The doctor doesn't look at the instructions
// of a project.
func checked(t Target, row harness.Row, path string, says stick.Words) error {
	if slices.Contains([]string{harness.InstructionsFile, row.Setup.Instructions}, filepath.Base(path)) {
		return stick.Errorf(stick.CodeConfigUnwritable, "%s %s", path, says).With("path", path)
	}

	for _, s := range InstalledStatus(t) {
		if s.Harness == row.Name && s.Problem != "" {
			return stick.Errorf(stick.CodeConfigUnwritable, "%s", s.Problem).With("path", path)
		}
	}

	return nil
}

// filesOf lists the files that are written for a harness, below the root of a machine.
func filesOf(t *testing.T, row harness.Row, project bool) (files []string) {
	w := newMachine(t)
	if project {
		w.inProject()
	}
	steps, err := Install(w.t, []string{row.Name})
	if err != nil {
		t.Fatal(err)
	}

	for _, s := range steps {
		if file, err := filepath.Rel(w.root, s.File); err == nil && !s.dir {
			files = append(files, file)
		}
	}

	if len(files) == 0 {
		t.Errorf("%s has no files", row.Name)
	}
	return files
}

// inTime returns what do returns. Whoever waits for a FIFO would wait for ever.
func inTime(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }() // if it hangs, it ends with the test's process

	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it hangs")
		return nil
	}
}
