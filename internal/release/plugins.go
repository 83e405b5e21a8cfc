package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// makePlugins makes what harnesses install by commands of their own: an archive of the directory that a
// repository of the owner's can publish, and the package of npm that lies in it. They bring no program, so
// they are the same for all systems.
func (r *release) makePlugins(ctx context.Context, texts []file) (files []file, err error) {
	r.printProgress("plugins")

	dir := filepath.Join(r.work, "plugins")
	author, _, _ := strings.Cut(project.maintainer, " <")

	err = r.goTool(ctx, system{runtime.GOOS, runtime.GOARCH},
		"run", "-trimpath", "-buildvcs=false", "./internal/plugin",
		"-version", r.commit.version, "-author", author, "-homepage", project.published, dir)
	if err != nil {
		return nil, err
	}

	var all, npm []file
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}

		f := file{filepath.ToSlash(name), 0o644, b}
		all = append(all, f)

		// The package of npm holds the files of its folder alone.
		if rest, ok := strings.CutPrefix(f.name, openCode+"/"); ok {
			npm = append(npm, file{rest, f.mode, f.data})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	// Both bring the licence.
	for _, f := range texts {
		if f.name == licence {
			all, npm = append(all, f), append(npm, f)
		}
	}

	top := fmt.Sprintf("tt_%s_plugins", r.commit.version)
	for i := range all {
		all[i].name = top + "/" + all[i].name
	}
	for i := range npm {
		npm[i].name = "package/" + npm[i].name
	}

	archive, err := packTarGz(all, r.commit.date, "")
	if err != nil {
		return nil, err
	}

	packed, err := packTarGz(npm, r.commit.date, "")
	packedName := fmt.Sprintf("talkingstick-%s-%s.tgz", openCode, r.commit.version)
	return []file{{top + ".tar.gz", 0o644, archive}, {packedName, 0o644, packed}}, err
}

// openCode is the folder with the package of npm, as internal/plugin makes it.
const openCode = "opencode"
