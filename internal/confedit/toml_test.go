package confedit_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/confedit"
)

func TestTOMLSetTable(t *testing.T) {
	check(t, confedit.TOMLSetTable(serverPath, confedit.TOMLTable{
		{"command", "tt"}, {"env", confedit.TOMLTable{{"A", "1"}}},
	}), []edited{
		{"there is no file", "", "[mcp_servers.tt]\ncommand = \"tt\"\n\n[mcp_servers.tt.env]\nA = \"1\"\n"},
		{
			"a value differs",
			"[mcp_servers.tt]\ncommand = 'old' # why\nenabled = false\nenv.A = \"1\"\n",
			"[mcp_servers.tt]\ncommand = \"tt\" # why\nenabled = false\nenv.A = \"1\"\n",
		},
		{
			"a key lacks",
			"[mcp_servers.tt]\n  enabled = false\n[mcp_servers.tt.env]\nA = \"1\"\n",
			"[mcp_servers.tt]\n  enabled = false\n  command = \"tt\"\n[mcp_servers.tt.env]\nA = \"1\"\n",
		},
		{
			"with dotted keys",
			"mcp_servers.tt.enabled = true\nx = 1\n",
			"mcp_servers.tt.enabled = true\nmcp_servers.tt.command = \"tt\"\nmcp_servers.tt.env.A = \"1\"\nx = 1\n",
		},
		{
			"inline",
			"mcp_servers = { tt = { command = \"x\" }, o.command = 'o' }",
			"mcp_servers = { tt = { command = \"tt\", env.A = \"1\" }, o.command = 'o' }",
		},
		{
			"into an inline table",
			"[a]\n[mcp_servers]\ntt.env = { B = 2 }\n",
			"[a]\n[mcp_servers]\ntt.env = { B = 2, A = \"1\" }\ntt.command = \"tt\"\n",
		},
		{
			"by a subtable alone",
			"[mcp_servers.tt.env]\nA = \"1\"\n",
			"[mcp_servers.tt.env]\nA = \"1\"\n\n[mcp_servers.tt]\ncommand = \"tt\"\n",
		},
		{"there", "[mcp_servers]\n\"tt\" = { 'command' = '''tt''', env = { A = \"1\" }, more = [1] }\n", ""},
	})
}

func TestTOMLSetTableOfTheFile(t *testing.T) {
	check(t, confedit.TOMLSetTable([]string{"gate"}, confedit.TOMLTable{{"command", "make test"}}), []edited{
		{"there is no file", "", "[gate]\ncommand = \"make test\"\n"},
		{
			"after others",
			"# ours\n[roles]\nappend = [\"a\"]",
			"# ours\n[roles]\nappend = [\"a\"]\n\n[gate]\ncommand = \"make test\"",
		},
		{
			"a key lacks",
			"[gate]\ntimeout = \"5m\" # slow\n\n[roles]\n",
			"[gate]\ntimeout = \"5m\" # slow\ncommand = \"make test\"\n\n[roles]\n",
		},
		{"a value differs", "[gate]\ncommand = 'make' # old\n", "[gate]\ncommand = \"make test\" # old\n"},
		{
			"with dotted keys",
			"gate.timeout = \"5m\"\n[roles]\n",
			"gate.timeout = \"5m\"\ngate.command = \"make test\"\n[roles]\n",
		},
		{"inline", "gate = { timeout = \"5m\" }\n", "gate = { timeout = \"5m\", command = \"make test\" }\n"},
		{"there", "gate.command = 'make test'\n", ""},
	})

	if _, _, err := confedit.TOMLSetTable(nil, confedit.TOMLTable{{"x", 1}})(nil); err == nil {
		t.Error("the root of a file isn't a table to set")
	}
}

func TestTOMLRemove(t *testing.T) {
	check(t, confedit.TOMLRemoveTable(serverPath), []edited{
		{"there is no file", "", ""},
		{
			"between others",
			"[a]\nx = 1\n\n[mcp_servers.tt]\ncommand = \"tt\"\n# more\n\n[b]\n",
			"[a]\nx = 1\n# more\n\n[b]\n",
		},
		{
			"in pieces",
			"[mcp_servers.tt.env]\nA = 1\n[a]\n[mcp_servers.tt]\ncommand = \"tt\"\n[[mcp_servers.tt.tools]]\nx = 1\n[b]\n",
			"[a]\n[b]\n",
		},
		{
			"dotted",
			"mcp_servers.tt.a = 1\nmcp_servers.x.a = 1 # x\nmcp_servers.tt.b = 1 # ours?\n",
			"mcp_servers.x.a = 1 # x\n# ours?\n",
		},
		{"inline", "mcp_servers = { tt.a = 1, x = {}, tt.b = 2 }\n", "mcp_servers = { x = {} }\n"},
	})

	check(t, confedit.TOMLRemoveElement(rootsPath, "/tt", true), []edited{
		{"it isn't there", "[sandbox_workspace_write]\nwritable_roots = []\n", ""},
		{
			"the last one",
			"[sandbox_workspace_write]\nwritable_roots = [\n  \"/tt\",\n]\nnetwork_access = true\n",
			"[sandbox_workspace_write]\nnetwork_access = true\n",
		},
		{
			"the table stays for a comment",
			"[sandbox_workspace_write] # mine\nwritable_roots = [\"/tt\"]\n",
			"[sandbox_workspace_write] # mine\n",
		},
		{
			"a comment stays",
			"[sandbox_workspace_write]\nwritable_roots = [ # roots\n  \"/tt\"\n]\n",
			"[sandbox_workspace_write]\nwritable_roots = [ # roots\n]\n",
		},
		{
			"twice",
			"[sandbox_workspace_write]\nwritable_roots = [\"/a\", \"/tt\", \"/tt\"]\n",
			"[sandbox_workspace_write]\nwritable_roots = [\"/a\"]\n",
		},
	})

	check(t, confedit.TOMLRemoveElement(rootsPath, "/tt", false), []edited{
		{
			"the array stays",
			"[sandbox_workspace_write]\nwritable_roots = [\"/tt\"]\n",
			"[sandbox_workspace_write]\nwritable_roots = []\n",
		},
	})
}

func TestTOMLRefused(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"not TOML", "a = 1\nb = \n", "line 2, column 5: unexpected character U+000A at start of value"},
		{"a table twice", "[a]\n[a]\n", "line 2, column 2: table a already exists"},
		{"a number that is too large", "n = 1e999\n", "line 1, column 5: a number that can't be read"},
		{"a value in the way", "mcp_servers = 1\n", "mcp_servers is a number, date, true or false, not a table"},
		{"an array of tables in the way", "[[mcp_servers]]\n", "mcp_servers is an array, not a table"},
		{"no table", "[mcp_servers]\ntt = 'x'\n", "mcp_servers.tt is a string, not a table"},
		{
			"a table for a value",
			"[mcp_servers.tt.command]\n",
			"mcp_servers.tt.command is a table in a form that can't be replaced by a value",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, changed, err := confedit.TOMLSetTable(serverPath, server)([]byte(c.src))
			if err == nil || changed || string(out) != c.src {
				t.Fatal("it was changed")
			}
			if d := cmp.Diff(c.want, err.Error()); d != "" {
				t.Error(d)
			}
		})
	}

	if _, _, err := confedit.TOMLAddElement([]string{"top"}, 1)(nil); err == nil {
		t.Error("a key outside of tables was set")
	}
	if _, _, err := confedit.TOMLSetTable(serverPath, confedit.TOMLTable{{"x", nil}})(nil); err == nil {
		t.Error("nil was written as TOML")
	}
}

func FuzzTOML(f *testing.F) {
	for _, kind := range [][]string{rootPieces, serverPieces, inlineServers, rootsPieces, inlineRoots, otherPieces} {
		for _, s := range kind {
			f.Add([]byte(s))
		}
	}

	f.Add([]byte("mcp_servers = {\n  a.b = 1, # c\n}\r\n[[x]]\n[x.y]"))
	f.Fuzz(func(t *testing.T, src []byte) {
		out := never(t, src, confedit.TOMLSetTable(serverPath, server))
		cleared := never(t, src, confedit.TOMLRemoveTable(serverPath))
		if !bytes.Equal(out, src) && bytes.Equal(cleared, src) {
			if back := never(t, out, confedit.TOMLRemoveTable(serverPath)); !bytes.Equal(back, src) {
				t.Errorf("it doesn't come back:\n%q\n%q\n%q", src, out, back)
			}
		}

		never(t, src, confedit.TOMLRemoveElement(rootsPath, "/a", true))
		never(t, src, confedit.TOMLAddElement(rootsPath, "/tt"))
	})
}

func TestTOMLGet(t *testing.T) {
	src := []byte("\xef\xbb\xbf[mcp_servers]\ntt.args = ['a', 'b']\nx = 1\n")
	v, found, err := confedit.TOMLGet(src, []string{"mcp_servers", "tt", "args"})
	if d := cmp.Diff([]any{"a", "b"}, v); d != "" || !found || err != nil {
		t.Error(d, found, err)
	}
	if _, found, err := confedit.TOMLGet(src, []string{"mcp_servers", "y"}); found || err != nil {
		t.Error(found, err)
	}
	if _, _, err := confedit.TOMLGet(src, []string{"mcp_servers", "x", "y"}); err == nil {
		t.Error("a number was taken for a table")
	}
}
