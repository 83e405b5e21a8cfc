package rescue

import (
	"errors"
	"slices"

	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
)

// addSnapshot adds the state of a snapshot to the pack and returns the name of its tree. Bytes that weren't
// read lie in earlier packs.
func (t *rescueTaker) addSnapshot(st manifest.State) (tree string, err error) {
	for _, b := range manifest.BlobsOf(st.Entries) {
		if _, ok := t.pack.Used[b]; !ok && !t.pack.ReuseObject(b) && t.pack.Err == nil {
			return "", errStale
		}
	}

	return bare.AddLean(t.pack, st)
}

// chooseNeeds returns the packs that the snapshot needs beside its own, after it has written again what lies
// in too many or too old ones: from the packs of which it needs least.
func (t *rescueTaker) chooseNeeds() (needs []string, err error) {
	weight := map[string]int64{}
	for _, o := range t.pack.Used {
		if o.Pack != pack.OwnPack && o.Size <= maxRewritten {
			weight[o.Pack] += o.Size
		}
	}

	// Packs that are too old are left. Of too many, those go of which the snapshot needs least.
	needs = pack.PacksOf(t.pack.Used)
	replaced := map[string]bool{}
	for _, id := range needs {
		if at, _ := manifest.TimeOf(id); t.r.At.Sub(at) > maxNeedAge {
			replaced[id] = true
		}
	}

	if len(needs)-len(replaced) > maxNeeds {
		light := slices.DeleteFunc(slices.Clone(needs), func(id string) bool { return replaced[id] })
		slices.SortStableFunc(light, func(a, b string) int { return int(min(max(weight[a]-weight[b], -1), 1)) })
		for _, id := range light[:len(light)-maxNeeds/2] {
			replaced[id] = true
		}
	}

	if len(replaced) == 0 {
		return needs, nil
	}
	if err := t.writeAgain(replaced); err != nil {
		return nil, err
	}

	return pack.PacksOf(t.pack.Used), nil
}

// writeAgain writes what lies in packs again, but for large objects.
func (t *rescueTaker) writeAgain(packs map[string]bool) error {
	from := t.snapshot.repo.NewSource(bare.Ref{Form: bare.LeanForm})
	defer from.Close()

	for name, o := range t.pack.Used {
		if !packs[o.Pack] || o.Size > maxRewritten {
			continue
		}

		p, err := from.OpenPackOf(bare.LeanForm, o.Pack)
		if err != nil {
			return errors.Join(errStale, err)
		}

		found, err := p.ReadObject(name)
		if err != nil {
			return errors.Join(errStale, err)
		}

		t.pack.WriteObject(name, pack.KindOf(found.Kind), found.Data)
	}
	return nil
}
