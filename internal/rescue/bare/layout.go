package bare

import (
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
)

// AddWhole adds the state of a whole rescue to a pack and returns the name of its tree.
func AddWhole(p *pack.Writer, st manifest.State) (tree string, err error) {
	root := bytesOf(st)
	text, err := manifest.EncodeState(st)
	if err != nil {
		return "", err
	}

	root.PutFile(EntriesName, pack.ModeFile, p.AddObject(pack.KindBlob, text))
	return root.AddTo(p), nil
}

// bytesOf returns the tree of the bytes of a state.
func bytesOf(st manifest.State) *pack.TreeBuilder {
	root := &pack.TreeBuilder{}
	for _, e := range st.Entries {
		if e.Work != nil {
			root.PutFile("work/"+string(e.Path), e.Work.Mode, e.Work.Blob)
		}
		for _, v := range e.Index {
			if v.Blob != "" {
				root.PutFile(stageFolders[v.Stage]+"/"+string(e.Path), v.Mode, v.Blob)
			}
		}
	}

	return root
}

// AddLean adds the state of a snapshot to a pack and returns the name of its tree.
func AddLean(p *pack.Writer, st manifest.State) (tree string, err error) {
	root := bytesOf(st)
	files, err := manifest.SplitState(st)
	if err != nil {
		return "", err
	}

	entries := &pack.TreeBuilder{}
	for name, text := range files {
		entries.PutFile(name, pack.ModeFile, p.AddObject(pack.KindBlob, text))
	}

	root.PutTree(EntriesName, entries)
	return root.AddTo(p), nil
}

// EntriesName is the name of the entries in the tree of a rescue.
const EntriesName = "entries"

// stageFolders are the directories of staged files in the tree of a rescue, by stage.
var stageFolders = []string{"index", "stage1", "stage2", "stage3"}
