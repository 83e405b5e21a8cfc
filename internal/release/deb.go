package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// debVersion is a version as Debian orders it: what comes before a release has a ~, and - would begin the
// revision of a packager.
func debVersion(version string) string {
	release, before, ok := strings.Cut(version, "-")
	if !ok {
		return release
	}
	return release + "~" + strings.ReplaceAll(before, "-", ".")
}

// makeDeb makes the Debian package of a program. It has no scripts: there is nothing to start, to stop or to
// ask. The name of the file has the version as the other files have it, because some servers replace a ~.
func (r *release) makeDeb(p program, pages, texts []file) (file, error) {
	in, err := debFiles(p, pages, texts)
	if err != nil {
		return file{}, err
	}

	data, err := packTarGz(in, r.commit.date, ".")
	if err != nil {
		return file{}, err
	}

	// Debian counts the size in KiB, and each file as whole ones.
	size := 0
	var sums strings.Builder
	for _, f := range sortFiles(in) {
		size += (len(f.data) + 1023) / 1024

		// dpkg --verify reads no other sums.
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name)
	}

	about := fmt.Sprintf(`Package: %s
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Recommends: git
Section: vcs
Priority: optional
`, project.debian, debVersion(r.commit.version), p.arch, project.maintainer, size)
	if project.published != "" {
		about += "Homepage: " + project.published + "\n"
	}
	about += "Description: " + strings.ToLower(project.summary[:1]) + project.summary[1:] + `
 tt lets several coding agents and people work on one codebase at the same
 time. Whoever holds the stick changes files; the others wait, and get a
 handoff with it. Tasks run side by side, each in a worktree of its own.
`

	facts := []file{{"control", 0o644, []byte(about)}, {"md5sums", 0o644, []byte(sums.String())}}
	control, err := packTarGz(facts, r.commit.date, ".")
	if err != nil {
		return file{}, err
	}

	// The three parts stand in this order.
	b := packAr([]file{
		{"debian-binary", 0o644, []byte("2.0\n")}, {"control.tar.gz", 0o644, control}, {"data.tar.gz", 0o644, data},
	}, r.commit.date)
	return file{fmt.Sprintf("%s_%s_%s.deb", project.debian, r.commit.version, p.arch), 0o644, b}, nil
}

// debPages are where Debian's shells look for completions.
var debPages = map[string]string{
	"completions/tt.bash": "usr/share/bash-completion/completions/tt",
	"completions/_tt":     "usr/share/zsh/vendor-completions/_tt",
	"completions/tt.fish": "usr/share/fish/vendor_completions.d/tt.fish",
}

// debFiles places the files of a Debian package.
func debFiles(p program, pages, texts []file) ([]file, error) {
	doc := "usr/share/doc/" + project.debian + "/"
	in := p.filesIn("usr/bin/")
	add := func(name string, data []byte, err error) error {
		in = append(in, file{name, 0o644, data})
		return err
	}

	for _, f := range pages {
		if at := debPages[f.name]; at != "" {
			in = append(in, file{at, 0o644, f.data})
		} else if page, ok := strings.CutPrefix(f.name, "man/"); ok {
			b, err := compressFile(f.data)
			if err := add("usr/share/man/man1/"+page+".gz", b, err); err != nil {
				return nil, err
			}
		}
	}

	// Debian wants to know in one file who may do what with the program, and with what is linked into it.
	var rights [][]byte
	for _, f := range texts {
		switch f.name {
		case licence, thirdParty:
			rights = append(rights, f.data)
		case changes:
			b, err := compressFile(f.data)
			if err := add(doc+"changelog.gz", b, err); err != nil {
				return nil, err
			}
		default:
			in = append(in, file{doc + path.Base(f.name), 0o644, f.data})
		}
	}

	return slices.Clip(in), add(doc+"copyright", bytes.Join(rights, []byte("\n")), nil)
}

// packAr packs files as the archiver of Unix does. The format is a line for each file and its bytes; dpkg-deb
// would write it too, but only where there is one, and in another way from version to version.
func packAr(files []file, when time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, when.Unix(), 0, 0, 0o100000|f.mode.Perm(), len(f.data))
		b.Write(f.data)

		// Each header begins at an even place.
		if len(f.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
