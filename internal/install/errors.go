package install

import (
	"io/fs"
	"os"
	"strings"

	"talkingstick/internal/confedit"
	"talkingstick/stick"
)

// explainError gives a failure of an edit its code and its next step.
func explainError(err error) error {
	switch e := err.(type) {
	case *confedit.MalformedError:
		return stick.Errorf(
			stick.CodeConfigMalformed, "%s isn't valid: line %d, column %d: %s",
			e.File, e.Line, e.Col, stick.Words(e.Why),
		).
			With("path", e.File).Hintf("fix the file and run the command again; tt changed nothing")
	case *confedit.PathError:
		return stick.Errorf(stick.CodeConfigMalformed, "%s: %s %s", e.File, keyWords(e.Path), stick.Words(e.Why)).
			With("path", e.File).
			Hintf("fix the file and run the command again; tt changed nothing")
	case *confedit.MarkerError:
		return stick.Errorf(stick.CodeConfigMalformed, "%s: line %d: %s", e.File, e.Line, stick.Words(e.Why)).
			With("path", e.File).
			Hintf("fix the file and run the command again; tt changed nothing")
	case *confedit.ChangedError:
		return stick.Errorf(stick.CodeConfigChanged, "somebody else has just changed %s", e.File).
			With("path", e.File).
			Hintf("run the command again")
	case *confedit.FileError:
		says := stick.Wordsf("%s %s", e.File, stick.Words(e.Why))
		if e.Err != nil {
			says += stick.Wordsf(": %s", e.Err)
		}

		switch e.Why {
		case confedit.NotRegular, confedit.Loop:
			return stick.Errorf(stick.CodeConfigUnwritable, "%s", says).With("path", e.File).
				Hintf("replace it with a regular file, then run the command again")
		case confedit.TooLarge:
			return stick.Errorf(stick.CodeConfigUnwritable, "%s", says).With("path", e.File).
				Hintf("move it aside or make it smaller, then run the command again")
		}

		if e.Err != nil && os.IsPermission(e.Err) || e.Err == nil || isPathError(e.Err) {
			return stick.Errorf(stick.CodeConfigUnwritable, "%s", says).With("path", e.File).
				Hintf("check who may write it, and run the command again")
		}
	}

	return err
}

// keyWords names a key of a file by the keys that lead to it.
func keyWords(path []string) stick.Words {
	if len(path) == 0 {
		return "the file's value"
	}
	return stick.Wordsf("%s", strings.Join(path, "."))
}

func isPathError(err error) bool {
	_, ok := err.(*fs.PathError)
	return ok
}
