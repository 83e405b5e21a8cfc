package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pelletier/go-toml/v2"

	"talkingstick/stick"
)

// UserFile is the user's own file, below the directory of the user's configuration.
const UserFile = "talking-stick/config.toml"

// User is what a user sets for all projects.
type User struct {
	// Database is the address of a PostgreSQL database; empty for a file in the data directory. It may hold a password.
	Database string
}

// ReadUser reads the user's file in a directory of configuration. Without the file, nothing is set. It fails with
// [stick.CodeUsage] if it has something that isn't understood, and if others can read it: it may hold a password.
func ReadUser(dir string) (u User, err error) {
	path := filepath.Join(dir, filepath.FromSlash(UserFile))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return u, nil
	}
	bad := func(format string, args ...any) *stick.Error {
		return stick.Errorf(stick.CodeUsage, format, args...).With("path", path)
	}
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return u, bad("others can read %s, which may hold the password of a database", stick.Line(path)).Hintf("%s", stick.Cmd("chmod 600 <file>", path))
	}
	var text []byte
	if err == nil {
		text, err = ReadFile(filepath.Dir(path), filepath.Base(path), maxFile)
	}
	if err != nil {
		return u, bad("%s can't be read: %v", stick.Line(path), err).Hintf("make it readable for yourself, or remove it")
	}
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return u, bad("%s isn't TOML", stick.Line(path)).Hintf("correct it; it may set database = \"postgres://…\"") // the parser's error would show its lines
	}
	for key, value := range all {
		address, ok := value.(string)
		if key != "database" || !ok {
			return u, bad("%s sets %s, which tt doesn't understand", stick.Line(path), stick.Clip(key, 60)).Hintf("it may set database = \"postgres://…\"")
		}
		u.Database = address
	}
	return u, nil
}
