package commits

import (
	"context"
	"errors"
	"os"
	"strings"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/pack"
	"talkingstick/stick"
)

// errTooLarge ends a copy that would pass the limit.
var errTooLarge = errors.New("the commits are too large")

// copyCommits copies what was found into a pack of ours. If refs turn out to lack something, it copies the
// others.
func (k *commitKeeper) copyCommits(ctx context.Context, id string) error {
	err := k.writePack(ctx, id)
	if err == nil || stick.CodeOf(err) != stick.CodeGitFailed || ctx.Err() != nil {
		return err
	}

	// A ref has turned out to lack something: what the others reach is still copied.
	if err := k.findFromWholeRefs(ctx); err != nil || len(k.found.heads) == 0 {
		return err
	}
	return k.writePack(ctx, id)
}

func (k *commitKeeper) writePack(ctx context.Context, id string) error {
	file, err := plainfile.Temp(k.repo.PathTo(bare.PacksName), bare.TempPrefix+"*"+pack.Suffix)
	if err != nil {
		return bare.ErrUnwritable(k.repo.PathTo(bare.PacksName), err)
	}

	// This removes nothing once the file has its name.
	defer os.Remove(file.Name())
	defer file.Close()

	limited, stop := context.WithCancel(ctx)
	defer stop()
	out := &limitedFile{file: file, left: k.repo.store.Limits.Bytes, stop: stop}

	in := strings.Join(k.found.heads, "\n") + "\n"
	for _, base := range k.found.bases {
		in += "^" + base + "\n"
	}

	_, err = k.git.Run(limited, strings.NewReader(in), out, "pack-objects", "--revs", "--stdout", "-q",
		"--window=0", "--delta-base-offset",
		"--exclude-promisor-objects")

	// Git fails, too, when we stop it. So what stopped it is asked first.
	switch {
	case out.left < 0:
		return errTooLarge
	case out.err != nil:
		return bare.ErrUnwritable(file.Name(), out.err)
	case err != nil:
		return err
	}

	if err := file.Close(); err != nil {
		return bare.ErrUnwritable(file.Name(), err)
	}
	return k.settlePack(ctx, id, file.Name())
}

// limitedFile writes a file up to a size. Then it stops who writes.
type limitedFile struct {
	file *os.File
	left int64
	err  error
	stop func()
}

func (f *limitedFile) Write(b []byte) (n int, err error) {
	if f.left -= int64(len(b)); f.left < 0 {
		f.stop()
		return 0, errTooLarge
	}

	n, f.err = f.file.Write(b)
	return n, f.err
}

// settlePack has git check a pack and make its index, and gives both their names.
func (k *commitKeeper) settlePack(ctx context.Context, id, path string) error {
	index := strings.TrimSuffix(path, pack.Suffix) + pack.IndexSuffix

	// This removes nothing once the file has its name.
	defer os.Remove(index)

	// Without a reverse index it is two files, as all packs of ours are.
	own := k.repo.OwnGit().WithEnv("GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=pack.writeReverseIndex", "GIT_CONFIG_VALUE_0=false")
	if _, err := own.Run(ctx, nil, nil, "index-pack", "-o", index, path); err != nil {
		return err
	}

	if err := plainfile.InheritPath(index); err != nil {
		return bare.ErrUnwritable(index, err)
	}

	base := k.repo.commitBase(id)

	// The index gets its name last: without it, a pack is none for git.
	if err := os.Rename(path, base+pack.Suffix); err != nil {
		return bare.ErrUnwritable(base+pack.Suffix, err)
	}
	k.repo.Kill("commit pack")
	if err := os.Rename(index, base+pack.IndexSuffix); err != nil {
		return bare.ErrUnwritable(base+pack.IndexSuffix, err)
	}
	k.repo.Kill("commit index")
	return nil
}
