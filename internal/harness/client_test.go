package harness

import (
	"strings"
	"testing"

	"talkingstick/internal/proc"
	"talkingstick/stick"
)

// TestClients: who calls through MCP below no harness is an agent by the name of the client. The nearest
// process that doesn't only start others vouches for it as far as its end goes.
func TestClients(t *testing.T) {
	cursor := run("cursor", "/usr/share/cursor/cursor", "--type=utility")
	python := run("python3", "/usr/bin/python3", "agent.py")
	npx := run("npm exec @x/y", "npm", "exec", "@x/y")
	node := run("node", "node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "-y", "tt-mcp")
	ttShim := run("tt", "/usr/local/bin/tt", "mcp")

	server := id(77)
	for _, c := range []struct {
		name, client string
		chain        []proc.Info
		env          env
		as           string
		harness      string
		process      int // 0 for none
	}{
		{"a client", "cursor", at(cursor, systemd), nil, "", "cursor", 1000},
		{"in a terminal", "cursor", at(cursor, login, systemd), nil, "", "cursor", 1000},
		{
			"behind what starts programs", "Windsurf", at(bash, ttShim, node, npx, cursor, systemd), nil, "",
			"windsurf", 996,
		},
		{"a program in Python", "my agent/2", at(python, systemd), nil, "", "my-agent-2", 1000},
		{"what a harness left in the environment", "cursor", at(cursor, systemd), claudeEnv, "", "cursor", 1000},
		{"detached", "cursor", at(bash, systemd), nil, "", "cursor", 0},
		{"without parents", "cursor", nil, nil, "", "cursor", 0},
		{"without a name", "", at(cursor, systemd), nil, "", "mcp", 1000},
		{"no letters", "東京", at(cursor, systemd), nil, "", "mcp", 1000},
		{"a person's name", "human", at(cursor, systemd), nil, "", "mcp-human", 1000},
		{"the name of a worker's command", "Worker", at(cursor, systemd), nil, "", "mcp-worker", 1000},
		{"a harness that is no ancestor", "claude-code", at(cursor, systemd), nil, "", "claude", 0},
		{"a harness by its own name", "opencode", at(cursor, systemd), nil, "", "opencode", 0},
		{"below a harness", "cursor", at(bash, claude, systemd), claudeEnv, "", "claude", 999},
		{"a harness without a row", "Crush MCP", at(crush, login, systemd), crushEnv, "", "crush", 1000},
		{"a harness known by its program", "aider MCP", at(bash, aider, login, systemd), nil, "", "aider", 999},
		{"the variable of one that is no ancestor", "cursor", at(cursor, systemd), crushEnv, "", "cursor", 1000},
		{"a long name", strings.Repeat("x", 90), at(cursor, systemd), nil, "", strings.Repeat("x", 32), 1000},
		{"a word of tt's", "You", at(cursor, systemd), nil, "", "mcp-you", 1000},
		{"an assumed name", "cursor", at(cursor, systemd), nil, "reviewer", "cursor", 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := Input{
				Getenv: c.env.get, Chain: c.chain, Complete: true, As: c.as, AsSource: "agent_id_override",
				User: "dev", Host: "host",
				Connection: &Connection{Client: c.client, Server: server},
			}

			got, err := Resolve(in)
			if err != nil {
				t.Fatal(err)
			}
			checkExplain(t, got.Explain)

			var process stick.Process
			if c.process != 0 {
				process = id(c.process)
			}
			if got.Person || got.Harness != c.harness || got.Process != process || got.As != c.as {
				t.Errorf("got %+v", got)
			}
			if got.Client && got.Process.IsZero() != (got.Server == server) {
				t.Errorf("the server is %v", got.Server)
			}
			if got.Client && !got.Process.IsZero() && got.Proof != stick.ProvesCarrier {
				t.Errorf("it proves %q", got.Proof)
			}

			if _, err := stick.ParseAgentID(got.Harness + ":12345678-2"); err != nil {
				t.Error(err)
			}
			in.As = "human:dev"
			if _, err := Resolve(in); stick.CodeOf(err) != stick.CodeUsage {
				t.Errorf("it may call itself a person: %v", err)
			}
		})
	}
}

// TestConnectionsHaveSeeds: each live connection of a client is another agent, and so is each connection
// whose client can't be seen.
func TestConnectionsHaveSeeds(t *testing.T) {
	seeds := map[string]bool{}
	all := []Caller{
		{Harness: "cursor", Process: id(1)},
		{Harness: "cursor", Process: id(1), Number: 2},
		{Harness: "cursor", Process: id(1), Number: 3},
		{Harness: "cursor", Process: id(2)},
		{Harness: "cursor", Server: id(1)},
		{Harness: "cursor", Server: id(2)},
	}

	for _, f := range all {
		seeds[f.Seed()] = true
	}
	if len(seeds) != len(all) {
		t.Errorf("the seeds are %v", seeds)
	}
	if all[2].First().Seed() != all[0].Seed() {
		t.Error("the first connection has another seed than a client's only one")
	}
}
