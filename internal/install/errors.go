package install

import (
	"io/fs"
	"os"

	"talkingstick/internal/confedit"
	"talkingstick/stick"
)

// explain gives the failures of editing their codes.
func explain(err error) error {
	switch e := err.(type) {
	case *confedit.MalformedError:
		return stick.Errorf(stick.CodeConfigMalformed, "%s can't be read as what it should be: line %d, column %d: %s", e.File, e.Line, e.Col, e.Why).
			With("path", e.File).Hintf("mend the file and run the command again; nothing was changed")
	case *confedit.PathError:
		return stick.Errorf(stick.CodeConfigMalformed, "%s", err).With("path", e.File).
			Hintf("mend the file and run the command again; nothing was changed")
	case *confedit.MarkerError:
		return stick.Errorf(stick.CodeConfigMalformed, "%s", err).With("path", e.File).
			Hintf("mend the file and run the command again; nothing was changed")
	case *confedit.ChangedError:
		return stick.Errorf(stick.CodeConfigChanged, "%s was changed by somebody else meanwhile", e.File).With("path", e.File).
			Hintf("run the command again")
	case *confedit.FileError:
		if e.Err != nil && os.IsPermission(e.Err) || e.Err == nil || isPathError(e.Err) {
			return stick.Errorf(stick.CodeConfigUnwritable, "%s", err).With("path", e.File).Hintf("see who may write it, and run the command again")
		}
	}
	return err
}

func isPathError(err error) bool {
	_, ok := err.(*fs.PathError)
	return ok
}
