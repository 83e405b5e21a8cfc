package install

import (
	"os"
	"path/filepath"
	"runtime"
)

// LocalProgram returns what a project's files run when they call tt, if PATH finds that in the project: in a
// directory inside of it, or in one that PATH names relative to wherever a command runs. Somebody may commit
// another program there. It is empty where PATH finds tt elsewhere, or nowhere.
func (t Target) LocalProgram() string {
	name := onPath
	if runtime.GOOS == "windows" {
		name += ".exe"
	}

	for _, dir := range filepath.SplitList(t.Getenv("PATH")) {
		file := filepath.Join(dir, name)

		// An empty one is the working directory.
		if !filepath.IsAbs(dir) {
			file = filepath.Join(t.Project, file)
		}

		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			continue
		}
		if filepath.IsAbs(dir) && !isInside(filepath.Dir(file), t.Project) {
			return ""
		}

		return file
	}

	return ""
}
