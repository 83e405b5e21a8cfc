package rescue

// addWhole adds the state of a whole rescue to a pack and returns the name of its tree.
func addWhole(p *pack, st state) (tree string, err error) {
	root := bytesOf(st)
	text, err := encodeState(st)
	if err != nil {
		return "", err
	}

	root.putFile(entriesName, modeFile, p.addObject(kindBlob, text))
	return root.addTo(p), nil
}

// bytesOf returns the tree of the bytes of a state.
func bytesOf(st state) *treeBuilder {
	root := &treeBuilder{}
	for _, e := range st.Entries {
		if e.Work != nil {
			root.putFile("work/"+string(e.Path), e.Work.Mode, e.Work.Blob)
		}
		for _, v := range e.Index {
			if v.Blob != "" {
				root.putFile(stageFolders[v.Stage]+"/"+string(e.Path), v.Mode, v.Blob)
			}
		}
	}

	return root
}

// addLean adds the state of a snapshot to a pack and returns the name of its tree.
func addLean(p *pack, st state) (tree string, err error) {
	root := bytesOf(st)
	files, err := splitState(st)
	if err != nil {
		return "", err
	}

	entries := &treeBuilder{}
	for name, text := range files {
		entries.putFile(name, modeFile, p.addObject(kindBlob, text))
	}

	root.putTree(entriesName, entries)
	return root.addTo(p), nil
}

// entriesName is the name of the entries in the tree of a rescue.
const entriesName = "entries"

// stageFolders are the directories of staged files in the tree of a rescue, by stage.
var stageFolders = []string{"index", "stage1", "stage2", "stage3"}
