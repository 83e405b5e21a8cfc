package rescue

import (
	"bytes"
	"context"
	"strings"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
	"talkingstick/internal/rescue/workfile"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// commitFiles reads files of commits as git would check them out, with its conversions of line ends and
// encodings. It runs no filter: of a file that has one, nobody knows here how it would lie in the tree.
type commitFiles struct {
	git      git.Isolated
	kept     git.Isolated // the same, and sees the commits that ours keeps
	autocrlf bool         // git converts the line ends of all texts
}

// conversionAttributes are the attributes of a path that say how git writes it to the tree.
var conversionAttributes = []string{"text", "eol", "crlf", "ident", "working-tree-encoding"}

// filterAttribute names the filter through which git writes a path.
const filterAttribute = "filter"

func (s *Store) commitFiles(ctx context.Context, tree workspace.Checkout) (*commitFiles, error) {
	g, err := s.Git.Isolate(ctx, tree.Top, gitVariables(tree, "")...)
	if err != nil {
		return nil, err
	}

	var out bytes.Buffer
	_, err = g.Run(ctx, nil, &out, "config", "--default", "false", "--get", "core.autocrlf")

	kept := g.WithEnv("GIT_ALTERNATE_OBJECT_DIRECTORIES=" + s.repositoryOf(tree.Common).PathTo("objects"))
	return &commitFiles{git: g, kept: kept, autocrlf: strings.TrimSpace(out.String()) == "true"}, err
}

// readFiles returns files of a commit, by their paths. It has no entry for a path that the commit lacks, and
// one without a mode for a file of which nobody can tell how git would write it. The repository may have lost
// the commit, if ours keeps it.
func (f *commitFiles) readFiles(ctx context.Context, commit string, paths []string) map[string]workfile.Content {
	all := map[string]workfile.Content{}
	if commit == "" || len(paths) == 0 {
		return all
	}

	in, err := listCommitted(ctx, f.git, commit, limitPaths(paths))

	// The user's repository may have lost the commit; ours may keep it.
	if stick.CodeOf(err) == stick.CodeGitFailed && ctx.Err() == nil {
		f = &commitFiles{git: f.kept, kept: f.kept, autocrlf: f.autocrlf}
		in, err = listCommitted(ctx, f.git, commit, limitPaths(paths))
	}

	var said map[string]map[string]string
	if err == nil {
		said, err = f.readAttributes(ctx, paths)
	}

	// The commit may be gone: then nobody knows these files.
	if err != nil {
		for _, p := range paths {
			all[p] = workfile.Content{}
		}
		return all
	}

	var plain []string
	for _, p := range paths {
		v, ok := in[p]
		switch {
		case !ok:
		case v.IsSubmodule() || v.Mode != pack.ModeLink && said[p][filterAttribute] != "":
			all[p] = workfile.Content{}
		case v.Mode != pack.ModeLink && f.isConverted(said[p]):
			all[p] = f.readConverted(ctx, p, v)
		default:
			plain = append(plain, p)
		}
	}

	f.addPlain(ctx, all, in, plain)
	return all
}

func (f *commitFiles) isConverted(attributes map[string]string) bool {
	for _, name := range conversionAttributes {
		if attributes[name] != "" {
			return true
		}
	}
	return f.autocrlf
}

// readAttributes returns the attributes of paths that are set, by the path and the name.
func (f *commitFiles) readAttributes(ctx context.Context, paths []string) (map[string]map[string]string, error) {
	var out bytes.Buffer
	args := append(append([]string{"check-attr", "-z", "--stdin"}, conversionAttributes...), filterAttribute)
	if _, err := f.git.Run(ctx, strings.NewReader(strings.Join(paths, "\x00")+"\x00"), &out, args...); err != nil {
		return nil, err
	}

	all := map[string]map[string]string{}
	fields := strings.Split(out.String(), "\x00") // <path> <attribute> <value>
	for ; len(fields) >= 3; fields = fields[3:] {
		path, name, value := fields[0], fields[1], fields[2]
		if value == "unspecified" || value == "unset" {
			continue
		}
		if all[path] == nil {
			all[path] = map[string]string{}
		}
		all[path][name] = value
	}
	return all, nil
}

// addPlain reads files that git writes as they are committed.
func (f *commitFiles) addPlain(ctx context.Context, all map[string]workfile.Content, in map[string]manifest.Version, paths []string) {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = in[p].OID
	}

	found, err := pack.ReadObjects(ctx, f.git, names)
	for i, p := range paths {
		all[p] = workfile.Content{}
		if err == nil && found[i].Kind == "blob" {
			all[p] = workfile.Content{Mode: in[p].Mode, Data: found[i].Data, Usual: true}
		}
	}
}

// readConverted reads one file that git converts.
func (f *commitFiles) readConverted(ctx context.Context, path string, v manifest.Version) workfile.Content {
	var out bytes.Buffer
	reader := f.git.WithEnv(pack.NoReplace)
	if _, err := reader.Run(ctx, nil, &out, "cat-file", "--filters", "--path="+path, v.OID); err != nil {
		return workfile.Content{}
	}
	return workfile.Content{Mode: v.Mode, Data: out.Bytes(), Usual: true}
}

// listDiffering lists the paths in which two commits differ.
func (f *commitFiles) listDiffering(ctx context.Context, from, to string) ([]string, error) {
	var out bytes.Buffer
	args := []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", from, to}
	if _, err := f.git.Run(ctx, nil, &out, args...); err != nil {
		return nil, err
	}

	said := strings.TrimSuffix(out.String(), "\x00")
	if said == "" {
		return nil, nil
	}
	return strings.Split(said, "\x00"), nil
}
