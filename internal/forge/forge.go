// Package forge speaks to a forge, such as GitHub or GitLab, by the forge's own program. It knows the
// programs' arguments and reads their answers. It starts nothing itself.
package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"talkingstick/stick"
)

// Repo is a repository at a forge.
type Repo struct {
	Host string // in lower case, without a port
	Path string // such as acme/app
}

// scp matches the short form of an address, such as git@github.com:acme/app.git.
var scp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[^@/:]+@)?([A-Za-z0-9.-]+):([^/].*)$`)
})

// schemes are those of the addresses of remotes that a host serves.
var schemes = []string{"https", "http", "ssh", "git"}

// sshHosts are the names by which forges serve ssh on another port, and their own.
var sshHosts = map[string]string{"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}

// ParseRemote returns the repository that the address of a git remote means. ok is false for one that no host
// serves, such as a directory.
func ParseRemote(address string) (r Repo, ok bool) {
	r, ok = ParseAlias(address)
	return r, ok && strings.Contains(r.Host, ".")
}

// ParseAlias is [ParseRemote] for an address whose host may also be an alias of ssh's configuration, without
// a dot.
func ParseAlias(address string) (r Repo, ok bool) {
	// C:/work is a directory, and C no host.
	m := scp().FindStringSubmatch(address)
	if m != nil && !strings.Contains(address, "://") && len(m[1]) > 1 {
		r = Repo{m[1], m[2]}
	} else if u, err := url.Parse(address); err == nil && slices.Contains(schemes, u.Scheme) {
		r = Repo{u.Hostname(), u.Path}
	}
	return r.At(r.Host)
}

// At returns the repository at a host of that name. ok is false if there can be none.
func (r Repo) At(host string) (_ Repo, ok bool) {
	r.Host, r.Path = strings.ToLower(host), strings.TrimSuffix(strings.Trim(r.Path, "/"), ".git")

	for _, part := range strings.Split(r.Path, "/") {
		if part == "" || strings.HasPrefix(part, "-") || strings.HasPrefix(part, ".") && len(strings.Trim(part, ".")) == 0 {
			return Repo{}, false
		}
	}

	if name, ok := sshHosts[r.Host]; ok {
		r.Host = name
	}

	return r, r.Host != "" && strings.Contains(r.Path, "/") && !strings.HasPrefix(r.Host, "-")
}

// Query says which pull request is meant: that of a branch for another one.
type Query struct {
	Branch, Base string
}

// Offer is a pull request to open.
type Offer struct {
	Query
	Title, Body string
}

// Command is a call of a program, without a shell.
type Command struct {
	Args  []string // the first is the program
	Input string   // for its standard input
}

// Run runs a command and returns what it printed on standard output.
type Run func(ctx context.Context, c Command) ([]byte, error)

// Program is the program of a forge.
type Program struct {
	Name  string
	label string // of the hosts that need no asking

	list   func(Repo, Query) []string
	view   func(Repo, int) []string
	create func(Repo, Offer) Command
	read   func([]byte) ([]found, error)
}

// found is a pull request as a program tells of it.
type found struct {
	stick.PullRequest
	foreign bool // its branch is in another repository
}

// Programs are the programs that this package knows.
var Programs = []Program{gh, glab}

// ServesHost reports whether a host's name tells that the program speaks to it.
func (p Program) ServesHost(host string) bool {
	for _, label := range strings.Split(host, ".") {
		if label == p.label {
			return true
		}
	}
	return false
}

// LoggedIn returns the command that succeeds if the program has an account at a host.
func (p Program) LoggedIn(host string) Command {
	return Command{Args: []string{p.Name, "auth", "status", "--hostname", host}}
}

// Find returns the pull request of a branch: the open one, else the newest that ended with the commit head.
// ok is false if there is none.
func (p Program) Find(ctx context.Context, run Run, r Repo, q Query, head string) (pr stick.PullRequest, ok bool, err error) {
	all, err := p.queryPulls(ctx, run, Command{Args: p.list(r, q)})
	if err != nil {
		return pr, false, err
	}

	for _, f := range all {
		switch {
		case f.foreign:
		case f.State == stick.PullOpen:
			return f.PullRequest, true, nil
		case f.Head == head && f.Number > pr.Number:
			pr, ok = f.PullRequest, true
		}
	}
	return pr, ok, nil
}

// View returns a pull request by its number.
func (p Program) View(ctx context.Context, run Run, r Repo, number int) (stick.PullRequest, error) {
	c := Command{Args: p.view(r, number)}
	all, err := p.queryPulls(ctx, run, c)
	if err != nil {
		return stick.PullRequest{}, err
	}

	if len(all) != 1 || all[0].Number != number {
		return stick.PullRequest{}, errAnswer(c)
	}
	return all[0].PullRequest, nil
}

// Create opens a pull request. What the program prints isn't read: [Program.Find] tells what there is then.
func (p Program) Create(ctx context.Context, run Run, r Repo, o Offer) error {
	_, err := run(ctx, p.create(r, o))
	return err
}

// queryPulls runs a command and reads the pull requests in its answer.
func (p Program) queryPulls(ctx context.Context, run Run, c Command) ([]found, error) {
	out, err := run(ctx, c)
	if err != nil {
		return nil, err
	}

	all, err := p.read(out)
	if err != nil {
		return nil, errAnswer(c)
	}

	// A program may answer with anything, and so it is checked.
	for _, f := range all {
		if err := f.Check(); err != nil {
			return nil, errAnswer(c)
		}
	}
	return all, nil
}

// errAnswer says that a command printed what can't be read, and names the command.
func errAnswer(c Command) error {
	typed := stick.Cmd(c.Args[0])
	for _, arg := range c.Args[1:] {
		typed = append(typed, stick.Word{Blank: "argument", Text: arg})
	}

	return stick.Errorf(stick.CodeForgeFailed, "%s gave an answer that tt can't read", c.Args[0]).With("program", c.Args[0]).
		Hintf("see what it says: %s; a newer version of %s may help", typed, c.Args[0])
}

// readOneOrMore reads a JSON list, or one object.
func readOneOrMore[T any](b []byte, as func(T) (found, error)) (all []found, err error) {
	text := strings.TrimSpace(string(b))
	if !strings.HasPrefix(text, "[") {
		text = "[" + text + "]"
	}

	var rows []T
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, err
	}

	for _, row := range rows {
		f, err := as(row)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// gh is GitHub's program.
var gh = Program{
	Name: "gh", label: "github",
	list: func(r Repo, q Query) []string {
		return []string{
			"gh", "pr", "list", "--repo", r.Host + "/" + r.Path, "--head", q.Branch, "--base", q.Base, "--state", "all", "--limit", "30",
			"--json", ghFields,
		}
	},
	view: func(r Repo, n int) []string {
		return []string{"gh", "pr", "view", strconv.Itoa(n), "--repo", r.Host + "/" + r.Path, "--json", ghFields}
	},
	create: func(r Repo, o Offer) Command {
		return Command{Input: o.Body, Args: []string{
			"gh", "pr", "create", "--repo", r.Host + "/" + r.Path, "--head", o.Branch, "--base", o.Base, "--title", o.Title, "--body-file", "-",
		}}
	},
	read: func(b []byte) ([]found, error) {
		return readOneOrMore(b, func(v struct {
			Number  int
			URL     string
			State   string
			Head    string                `json:"headRefOid"`
			Commit  *struct{ Oid string } `json:"mergeCommit"`
			Foreign bool                  `json:"isCrossRepository"`
		},
		) (found, error) {
			state, ok := map[string]stick.PullState{
				"OPEN": stick.PullOpen, "MERGED": stick.PullMerged, "CLOSED": stick.PullClosed,
			}[v.State]
			if !ok {
				return found{}, fmt.Errorf("state %q", v.State)
			}
			f := found{stick.PullRequest{Number: v.Number, URL: v.URL, State: state, Head: v.Head}, v.Foreign}
			if v.Commit != nil && state == stick.PullMerged {
				f.Commit = v.Commit.Oid
			}
			return f, nil
		})
	},
}

const ghFields = "number,url,state,headRefOid,mergeCommit,isCrossRepository"

// glab is GitLab's program.
var glab = Program{
	Name: "glab", label: "gitlab",
	list: func(r Repo, q Query) []string {
		return []string{
			"glab", "mr", "list", "--repo", "https://" + r.Host + "/" + r.Path, "--source-branch", q.Branch, "--target-branch", q.Base, "--all",
			"--per-page", "30", "--output", "json",
		}
	},
	view: func(r Repo, n int) []string {
		return []string{"glab", "mr", "view", strconv.Itoa(n), "--repo", "https://" + r.Host + "/" + r.Path, "--output", "json"}
	},
	create: func(r Repo, o Offer) Command {
		// glab mr create looks for the remotes of a repository around it, and creates nothing without one.
		// Texts alone can always be encoded.
		fields, _ := json.Marshal(map[string]string{
			"source_branch": o.Branch, "target_branch": o.Base, "title": o.Title, "description": o.Body,
		})

		return Command{Input: string(fields), Args: []string{
			"glab", "api", "--hostname", r.Host, "--method", "POST", "projects/" + url.PathEscape(r.Path) + "/merge_requests",
			"--header", "Content-Type: application/json", "--input", "-",
		}}
	},
	read: func(b []byte) ([]found, error) {
		return readOneOrMore(b, func(v struct {
			Number int    `json:"iid"`
			URL    string `json:"web_url"`
			State  string
			Head   string `json:"sha"`
			Merge  string `json:"merge_commit_sha"`
			Squash string `json:"squash_commit_sha"`
			From   int    `json:"source_project_id"`
			To     int    `json:"target_project_id"`
		},
		) (found, error) {
			state, ok := map[string]stick.PullState{
				"opened": stick.PullOpen, "locked": stick.PullOpen, "merged": stick.PullMerged, "closed": stick.PullClosed,
			}[v.State]
			if !ok {
				return found{}, fmt.Errorf("state %q", v.State)
			}
			f := found{stick.PullRequest{Number: v.Number, URL: v.URL, State: state, Head: v.Head}, v.From != v.To}
			if state == stick.PullMerged {
				f.Commit = v.Merge
				if f.Commit == "" {
					f.Commit = v.Squash
				}
				if f.Commit == "" { // it was merged by a fast-forward
					f.Commit = v.Head
				}
			}
			return f, nil
		})
	},
}
