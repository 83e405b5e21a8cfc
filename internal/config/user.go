package config

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"talkingstick/stick"
)

// UserFile is the user's own file, below the directory of the user's configuration.
const UserFile = "talking-stick/config.toml"

// User is what a user sets for all projects.
type User struct {
	// Database is the address of a PostgreSQL database; empty for a file in the data directory. It may hold a
	// password.
	Database string

	// Notify is the command that is run for each notice, for the shell; empty for none. It is in no project's
	// file: what runs for a user is set by nobody else.
	Notify string

	// Snapshots says what is never copied, and whether work is copied without a room. If something in it isn't
	// understood, the rest holds, and BadSnapshots says so: who works goes on.
	Snapshots    Snapshots
	BadSnapshots error
}

// ReadUser reads the user's file in a directory of configuration. Without the file, nothing is set. It fails
// with [stick.CodeUsage] if it has something that isn't understood, and if others can read it: it may hold a
// password.
func ReadUser(dir string) (u User, err error) {
	path := filepath.Join(dir, filepath.FromSlash(UserFile))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return u, nil
	}

	bad := func(format string, args ...any) *stick.Error {
		return stick.Errorf(stick.CodeUsage, format, args...).With("path", path)
	}

	// The file may hold a password, so nobody else may read it. Windows has no such permissions.
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return u, bad("others can read %s, which may hold the password of a database", path).
			Hintf("%s", stick.Cmd("chmod 600 <file>", path))
	}

	var text []byte
	if err == nil {
		text, err = ReadFile(filepath.Dir(path), filepath.Base(path), maxFile)
	}
	if err != nil {
		return u, bad("%s can't be read: %v", path, err).Hintf("make it readable for yourself, or remove it")
	}

	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		// The parser's error would show lines of the file.
		return u, bad("%s isn't TOML", path).Hintf("correct it; %s", userKeys)
	}

	for _, k := range flattenTables(all) {
		text, isText := k.value.(string)
		switch {
		case !isText && (k.name == "database" || k.name == "notify.command"):
			return u, bad("%s sets %s to what isn't text", path, k.name).Hintf("%s", userKeys)
		case k.name == "snapshots.never":
			if !u.readNever(k.value) {
				u.BadSnapshots = bad("%s sets snapshots.never to what isn't a list of patterns", path).
					With("field", k.name).Hintf("%s", userKeys)
			}
		case k.name == "snapshots.alone":
			isBool := false
			u.Snapshots.SaysAlone = true
			if u.Snapshots.Alone, isBool = k.value.(bool); !isBool {
				u.BadSnapshots = bad("%s sets snapshots.alone to what isn't true or false", path).
					With("field", k.name).Hintf("%s", userKeys)
			}
		case k.name == "database":
			u.Database = text
		case k.name == "notify.command":
			u.Notify = text
		default:
			return u, bad("%s sets %s, which tt doesn't understand", path, stick.Clip(k.name, 60)).
				Hintf("did you mean %s? %s", stick.Nearest(k.name, userNames), userKeys)
		}
	}
	return u, nil
}

// userNames are the keys that the user's file may have.
var userNames = []string{"database", "notify.command", "snapshots.alone", "snapshots.never"}

// userKeys says what the user's file may have.
const userKeys stick.Words = "it may set database = \"postgres://…\", command = \"…\" under [notify], " +
	"and never = [\"*.pem\"] and alone = true under [snapshots]"

// readNever reads what is never copied. It reports whether all of it is understood.
func (u *User) readNever(v any) bool {
	u.Snapshots.Never = validPatterns(v)

	list, isList := v.([]any)
	return isList && len(u.Snapshots.Never) == len(list)
}

// setting is a key of a file, with its table, and its value.
type setting struct {
	name  string
	value any
}

// flattenTables lists the settings of a file and of its tables.
func flattenTables(all map[string]any) (out []setting) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		table, isTable := all[key].(map[string]any)
		if !isTable {
			out = append(out, setting{key, all[key]})
			continue
		}

		for _, name := range slices.Sorted(maps.Keys(table)) {
			out = append(out, setting{key + "." + name, table[name]})
		}

		// A table that tt doesn't know is a mistake even if it is empty.
		if len(table) == 0 && key != "notify" && key != "snapshots" {
			out = append(out, setting{key, nil})
		}
	}
	return out
}
