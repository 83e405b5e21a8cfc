package confedit_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"talkingstick/internal/confedit"
)

var (
	server = confedit.TOMLTable{
		{"command", "/usr/bin/tt"},
		{"args", []string{"mcp"}},
		{"tool_timeout_sec", 60},
		{"env", confedit.TOMLTable{{"TT_HARNESS", "codex"}, {"A B", `C:\x "y"`}}},
	}
	serverPath = []string{"mcp_servers", "tt"}
	rootsPath  = []string{"sandbox_workspace_write", "writable_roots"}
)

// pieces of files as people write them. Each is a whole number of lines; the ones of a kind exclude
// each other.
var (
	rootPieces = []string{
		"model = \"o3\"\n", "# a comment\n", "\n", "notify = [\n  \"a\", # why\n  'b',\n]\n", "[]\n",
		"  indented = 1.5 # e\n", "s = \"\"\"\n[not.a.table]\n\"\"\"\n", "d = 1979-05-27T07:32:00-08:00\n",
		"n = nan\n", "e = {}\n",
	}
	serverPieces = []string{
		"", "[mcp_servers]\n", "[mcp_servers.other]\ncommand = \"x\"\n\n[mcp_servers.other.env]\nA = \"b\"\n",
		"[mcp_servers]\nother = { command = \"x\" }\n", "[mcp_servers]\nother.command = \"x\" # dotted\n",
		"[ mcp_servers . \"other\" ] # spaced\n\tcommand = 'x'\n\n# trailing\n",
	}
	inlineServers = []string{
		"",
		"mcp_servers = { other = { command = \"x\" } }\n",
		"mcp_servers = { }\n",
		"mcp_servers={other.command='x'}\n",
		"mcp_servers.other = {command = \"x\"}\n",
		"mcp_servers.other.command = \"x\"\n",
	}
	rootsPieces = []string{
		"", "[sandbox_workspace_write]\nnetwork_access = true\n",
		"[sandbox_workspace_write]\nwritable_roots = [\"/a\"]\n",
		"[sandbox_workspace_write]\n  writable_roots = [ # all\n    \"/a\", # first\n\n    # the other\n    '/b' # last\n  ]\n  network_access = false\n",
		"[sandbox_workspace_write]\nwritable_roots = [\n  \"/a\",\n  \"/b\", # trailing\n  # end\n]\n",
		"[sandbox_workspace_write]\nwritable_roots=[\"/a\",\"/b\"]\n",
	}
	inlineRoots = []string{
		"", "sandbox_workspace_write = { writable_roots = [\"/a\"], network_access = true }\n",
		"sandbox_workspace_write = { network_access = true }\n",
		"sandbox_workspace_write.network_access = true\n",
		"sandbox_workspace_write.writable_roots = [ \"/a\", ]\n", "sandbox_workspace_write = {}\n",
	}
	otherPieces = []string{
		"",
		"[profiles.x]\nmodel = \"a\"\n",
		"[[list]]\na = 1\n[[list]]\n[list.sub]\nb = 2\n",
		"[tui] # c\n# only a comment\n",
		"\n\n",
		"[projects.\"/home/ann/app\"]\ntrust_level = \"trusted\"\n",
	}
)

// drawTOML puts a file together.
func drawTOML(t *rapid.T) []byte {
	var b strings.Builder
	inline := rapid.Bool().Draw(t, "inline")
	for _, p := range rapid.SliceOfNDistinct(rapid.SampledFrom(rootPieces), 0, 4, rapid.ID).Draw(t, "root") {
		if p != "[]\n" {
			b.WriteString(p)
		}
	}

	order := rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")
	if inline {
		b.WriteString(rapid.SampledFrom(inlineServers).Draw(t, "servers"))
		b.WriteString(rapid.SampledFrom(inlineRoots).Draw(t, "roots"))
		order = []int{2}
	}

	for _, i := range order {
		b.WriteString(rapid.SampledFrom([][]string{serverPieces, rootsPieces, otherPieces}[i]).Draw(t, "piece"))
		b.WriteString(rapid.SampledFrom([]string{"", "", "\n", "# between\n", "  \n"}).Draw(t, "gap"))
	}

	s := b.String()
	if rapid.Bool().Draw(t, "open") {
		s = strings.TrimSuffix(s, "\n")
	}
	if rapid.Bool().Draw(t, "crlf") {
		s = strings.ReplaceAll(s, "\n", "\r\n")
	}
	return []byte(rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(t, "bom") + s)
}

func TestPropertyTOMLTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawTOML(t)
		out, ok := thereAndBack(t, src, confedit.TOMLSetTable(serverPath, server), confedit.TOMLRemoveTable(serverPath))
		if !ok {
			t.Fatalf("refused:\n%s", src)
		}

		other := confedit.TOMLTable{
			{"command", "/opt/tt"}, {"enabled", true}, {"env", confedit.TOMLTable{{"MORE", "1"}}},
		}
		changed, ok := must(t, confedit.TOMLSetTable(serverPath, other), out)
		if !ok {
			t.Fatalf("refused:\n%s", out)
		}
		if back, _ := must(t, confedit.TOMLRemoveTable(serverPath), changed); !bytes.Equal(back, src) {
			t.Fatalf("it doesn't come back after an update:\n%q\n%q\n%q", src, changed, back)
		}
	})
}

func TestPropertyTOMLTableOfTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawTOML(t)
		out, ok := must(t,
			confedit.TOMLSetTable([]string{"gate"}, confedit.TOMLTable{{"command", "make"}, {"retries", 1}}),
			src)
		if !ok {
			t.Fatalf("refused:\n%s", src)
		}
		if v, found, err := confedit.TOMLGet(out, []string{"gate", "command"}); v != "make" || !found || err != nil {
			t.Fatalf("it isn't there: %v %v %v\n%s", v, found, err, out)
		}

		for _, line := range bytes.Split(bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")), []byte("\n")) {
			if !bytes.Contains(out, bytes.TrimRight(line, "\r")) {
				t.Fatalf("the line %q has changed:\n%s", line, out)
			}
		}
	})
}

func TestPropertyTOMLElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := drawTOML(t)
		empty := bytes.Contains(src, []byte("sandbox_workspace_write = {}"))
		set, remove := confedit.TOMLAddElement(rootsPath, "/home/ann/.tt"), confedit.TOMLRemoveElement(rootsPath, "/home/ann/.tt", true)
		if _, ok := thereAndBack(t, src, set, remove); !ok && !empty {
			t.Fatalf("refused:\n%s", src)
		}

		both := confedit.JoinEdits(confedit.TOMLSetTable(serverPath, server), set)
		back := confedit.JoinEdits(remove, confedit.TOMLRemoveTable(serverPath))
		thereAndBack(t, src, both, back)
	})
}

func TestPropertyMarkdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(
			rapid.SampledFrom([]string{"# Title", "", "text", "  ", "```", "@README.md", "<!-- other -->"}),
			0, 6,
		).Draw(t, "lines")
		src := []byte(rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(t, "bom") + strings.Join(lines,
			rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "nl")))
		out, _ := thereAndBack(t, src, confedit.SetBlock("one\ntwo\n"), confedit.RemoveBlock())
		thereAndBack(t, src, confedit.SetImport("AGENTS.md"), confedit.RemoveBlock())
		changed, _ := must(t, confedit.SetBlock("three"), out)
		if back, _ := must(t, confedit.RemoveBlock(), changed); !bytes.Equal(back, src) {
			t.Fatalf("it doesn't come back after an update:\n%q\n%q\n%q", src, changed, back)
		}
	})
}
