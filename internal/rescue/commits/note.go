package commits

import (
	"context"
	"fmt"
	"slices"

	"talkingstick/internal/rescue/manifest"
)

// noteRefs writes a ref for each local ref whose commit ours has and that has none, and says in the log what
// refs are now.
func (k *commitKeeper) noteRefs(ctx context.Context, id string) error {
	log := k.log

	// A pack was written: it begins a round, or belongs to the present one.
	if len(k.found.heads) > 0 {
		if k.fresh {
			log.Round, log.Bases, log.NotBefore = id, nil, 0
		}
		size := k.repo.sizeOfCommits(id)
		log.Packs = append(log.Packs, keptPack{ID: id, Round: log.Round, Bytes: size})

		if err := k.noteBases(ctx); err != nil {
			return err
		}
	}

	// What this round has needs no second ref.
	known := map[string]keptRef{}
	for _, f := range slices.Concat(log.Gone, log.Tips) {
		if f.Round == log.Round {
			known[f.Commit] = f
		}
	}

	tips, err := k.chooseTips(ctx, known)
	if err != nil {
		return err
	}

	at, _ := manifest.TimeOf(id)
	var made []keptRef
	for i, f := range tips {
		if have, ok := known[f.Commit]; ok {
			tips[i].Ref, tips[i].At = have.Ref, have.At
		} else {
			tips[i].Ref, tips[i].At = fmt.Sprintf("%s/%s/%d", RefsName, id, len(made)), at
			known[f.Commit], made = tips[i], append(made, tips[i])
		}
		tips[i].Round, tips[i].Leans = log.Round, len(log.Bases) > 0
	}

	// Refs come before the log that names them.
	if err := k.repo.writeCommitRefs(id, made); err != nil {
		return err
	}
	k.retireTips(tips)
	return nil
}

// noteBases adds to the log the commits that a pack leans on and ours hasn't.
func (k *commitKeeper) noteBases(ctx context.Context) error {
	missing, err := missingCommits(ctx, k.repo.OwnGit(), k.found.bases)
	if err != nil {
		return err
	}

	k.log.Bases = append(k.log.Bases, missing...)
	slices.Sort(k.log.Bases)
	k.log.Bases = slices.Compact(k.log.Bases)
	return nil
}

// chooseTips lists the refs whose commits ours has, and the commits that nothing but a reflog reaches.
func (k *commitKeeper) chooseTips(ctx context.Context, known map[string]keptRef) (tips []keptRef, err error) {
	if k.log.Round == "" {
		return nil, nil
	}

	// A commit that is neither known nor new may still lie in an earlier pack.
	var asked []string
	for _, f := range k.refs {
		if _, ok := known[f.Commit]; !ok && !k.found.all[f.Commit] {
			asked = append(asked, f.Commit)
		}
	}
	lacks, err := missingCommits(ctx, k.repo.OwnGit(), asked)
	if err != nil {
		return nil, err
	}

	named := map[string]bool{}
	for _, f := range k.refs {
		if !slices.Contains(lacks, f.Commit) {
			named[f.Commit], tips = true, append(tips, f)
		}
	}

	// What nothing but a reflog reaches is named by HEAD.
	for _, c := range k.found.heads {
		if !named[c] {
			tips = append(tips, keptRef{Of: headName, Commit: c})
		}
	}
	return tips, nil
}

// retireTips puts the present tips in the log, and among those that are gone the earlier ones that nothing
// reaches now.
func (k *commitKeeper) retireTips(tips []keptRef) {
	isBase := map[string]bool{}
	for _, b := range k.found.bases {
		isBase[b] = true
	}

	for _, f := range k.log.Tips {
		still := slices.ContainsFunc(tips, func(t keptRef) bool { return t.Of == f.Of && t.Commit == f.Commit })

		// A commit on which the new ones build isn't lost.
		if !still && !(isBase[f.Commit] && f.Round == k.log.Round) {
			f.Gone = k.now
			k.log.Gone = append(k.log.Gone, f)
		}
	}

	k.log.Tips = tips
}
