package rescue

import (
	"errors"
	"slices"
)

// addSnapshot adds the state of a snapshot to the pack and returns the name of its tree. Bytes that weren't
// read lie in earlier packs.
func (t *rescueTaker) addSnapshot(st state) (tree string, err error) {
	for _, b := range blobsOf(st.Entries) {
		if _, ok := t.pack.used[b]; !ok && !t.pack.reuseObject(b) && t.pack.err == nil {
			return "", errStale
		}
	}

	return addLean(t.pack, st)
}

// chooseNeeds returns the packs that the snapshot needs beside its own, after it has written again what lies
// in too many or too old ones: from the packs of which it needs least.
func (t *rescueTaker) chooseNeeds() (needs []string, err error) {
	weight := map[string]int64{}
	for _, o := range t.pack.used {
		if o.pack != ownPack && o.size <= maxRewritten {
			weight[o.pack] += o.size
		}
	}

	// Packs that are too old are left. Of too many, those go of which the snapshot needs least.
	needs = packsOf(t.pack.used)
	replaced := map[string]bool{}
	for _, id := range needs {
		if at, _ := timeOf(id); t.r.At.Sub(at) > maxNeedAge {
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

	return packsOf(t.pack.used), nil
}

// writeAgain writes what lies in packs again, but for large objects.
func (t *rescueTaker) writeAgain(packs map[string]bool) error {
	from := t.snapshot.repo.newSource(ref{form: leanForm})
	defer from.close()

	for name, o := range t.pack.used {
		if !packs[o.pack] || o.size > maxRewritten {
			continue
		}

		p, err := from.openPackOf(leanForm, o.pack)
		if err != nil {
			return errors.Join(errStale, err)
		}

		found, err := p.readObject(name)
		if err != nil {
			return errors.Join(errStale, err)
		}

		t.pack.writeObject(name, kindOf(found.kind), found.data)
	}
	return nil
}
