package config

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// TestReadUser: the user's file names the database. What isn't understood is refused, and no refusal shows
// what the file holds.
func TestReadUser(t *testing.T) {
	const address = "postgres://me:secret@host/x"
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		want, says string
	}{
		{"nothing", "", 0o600, "", ""},
		{"an address", "database = \"" + address + "\"\n", 0o600, address, ""},
		{"readable by others", "database = \"" + address + "\"\n", 0o640, "", "others can read"},
		{"another key", "databsae = \"" + address + "\"\n", 0o600, "", "databsae"},
		{"no text", "database = 5\n", 0o600, "", "database"},
		{
			"an address and a command",
			"database = \"" + address + "\"\n[notify]\ncommand = \"notify-send tt\"\n",
			0o600,
			address,
			"",
		},
		{"another key of a table", "[notify]\ncomand = \"secret\"\n", 0o600, "", "notify.comand"},
		{"a command that is no text", "[notify]\ncommand = [\"secret\"]\n", 0o600, "", "notify.command"},
		{"a table that isn't one", "notify = \"secret\"\n", 0o600, "", "sets notify"},
		{"another table", "[gate]\ncommand = \"secret\"\n", 0o600, "", "gate.command"},
		{
			"no text in a list",
			"database = \"" + address + "\"\n[snapshots]\nnever = \"*.pem\"\n",
			0o600,
			address,
			"snapshots.never",
		},
		{
			"a bad pattern",
			"database = \"" + address + "\"\n[snapshots]\nnever = [\"*.pem\", \"../secret\"]\n",
			0o600,
			address,
			"snapshots.never",
		},
		{"copies for an agent alone", "database = \"" + address + "\"\n[snapshots]\nalone = true\n", 0o600, address, ""},
		{"neither yes nor no", "database = \"" + address + "\"\n[snapshots]\nalone = 1\n", 0o600, address, "snapshots.alone"},
		{"another key of snapshots", "[snapshots]\nnevr = [\"*.pem\"]\n", 0o600, "", "snapshots.nevr"},
		{"no TOML", "database = " + address, 0o600, "", "isn't TOML"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			if c.mode&0o077 != 0 && runtime.GOOS == "windows" {
				t.Skip("permissions are left to Windows")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, filepath.FromSlash(UserFile))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}

			if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
				t.Fatal(err)
			}
			u, err := ReadUser(dir)
			if err == nil {
				err = u.BadSnapshots
			}
			if u.Database != c.want {
				t.Errorf("the database is %q, want %q", u.Database, c.want)
			}
			if want := strings.Contains(c.text, "notify-send"); (u.Notify == "notify-send tt") != want {
				t.Errorf("the command is %q", u.Notify)
			}

			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" &&
				(stick.CodeOf(err) != stick.CodeUsage ||
					!strings.Contains(err.Error(), c.says) ||
					strings.Contains(err.Error(), "secret")):
				t.Errorf("it is refused with %v", err)
			}
		})
	}

	dir := filepath.Join(t.TempDir(), "my home")
	path := filepath.Join(dir, filepath.FromSlash(UserFile))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadUser(dir); runtime.GOOS != "windows" &&
		stick.AsError(err).Hint.String() != "chmod 600 '"+path+"'" {
		t.Errorf("the step isn't a command: %v", stick.AsError(err).Hint)
	}
	if u, err := ReadUser(t.TempDir()); err != nil || u.Database != "" {
		t.Errorf("without the file: %+v, %v", u, err)
	}
}

// TestReadUser_Never: what is never copied. Of a list with a fault, the patterns that are understood hold.
func TestReadUser_Never(t *testing.T) {
	for text, want := range map[string][]glob.Pattern{
		`never = ["*.pem", ".env"]`:       {"*.pem", ".env"},
		`never = []`:                      nil,
		`never = ["*.pem", "../x", 5]`:    {"*.pem"},
		`never = "*.pem"`:                 nil,
		`never = ["secrets/", ".//a//b"]`: {"secrets", "a/b"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(UserFile))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("[snapshots]\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}

		u, err := ReadUser(dir)
		if err != nil || !slices.Equal(u.Snapshots.Never, want) {
			t.Errorf("%s: %q, %v", text, u.Snapshots.Never, err)
		}
	}
}
