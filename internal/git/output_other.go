//go:build !unix

package git

import (
	"errors"
	"io"
	"os"
	"os/exec"
)

// output hands on what a program prints. The program prints into a file, which holds everything when the
// program has ended. A pipe would be open for as long as a program that it has left running.
type output struct {
	to   io.Writer
	file *os.File
}

type outputs []*output

// collectOutput makes cmd print into files. Its caller calls startCopying when the program runs,
// finishCopying when it has ended, and close in the end.
func collectOutput(cmd *exec.Cmd) (outputs, error) {
	var all outputs
	for _, stream := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		if *stream == nil {
			continue
		}

		f, err := os.CreateTemp("", "talking-stick-")
		if err != nil {
			all.close()
			return nil, err
		}

		all = append(all, &output{*stream, f})
		*stream = f
	}

	return all, nil
}

func (outputs) startCopying() {}

// finishCopying hands on everything that the program has printed.
func (all outputs) finishCopying() error {
	var errs []error

	// What comes later is by a program that was left running.
	for _, o := range all {
		info, err := o.file.Stat()
		if err == nil {
			_, err = io.Copy(o.to, io.NewSectionReader(o.file, 0, info.Size()))
		}
		errs = append(errs, err)
	}

	return errors.Join(errs...)
}

func (all outputs) close() {
	for _, o := range all {
		o.file.Close()
		// Removing fails while a program that was left running has it open.
		_ = os.Remove(o.file.Name())
	}
}
