package rescue

import (
	"slices"

	"talkingstick/internal/rescue/manifest"
)

// isNever reports whether no rescue may have a file.
func (t *rescueTaker) isNever(path string) bool {
	if t.never == nil {
		t.never = func(string) bool { return false }
		if t.store.Never != nil {
			t.never = t.store.Never(t.r.Tree)
		}
	}
	return t.never(path)
}

// leaveOutStaged notes that the rescue lacks what is staged of an entry, if it may not have it.
func (t *rescueTaker) leaveOutStaged(e *manifest.Entry) bool {
	if !t.isNever(string(e.Path)) {
		return false
	}

	isStaged := e.IsStaged() || e.IsConflict()
	if isStaged {
		t.leaveOut(string(e.Path), manifest.WhyNever, 0)
	}
	return true
}

// dropNever takes from an entry of an earlier state the bytes that no rescue may have any more. It reports
// whether there were any.
func (t *rescueTaker) dropNever(e *manifest.Entry) bool {
	if len(manifest.BlobsOf([]manifest.Entry{*e})) == 0 || !t.isNever(string(e.Path)) {
		return false
	}

	if e.Work != nil {
		t.taken.Bytes -= e.Work.Size
		e.Work, e.LeftOut = nil, true
		delete(t.snapshot.stamps, string(e.Path))
	}

	e.Index = slices.Clone(e.Index)
	for i := range e.Index {
		e.Index[i].Blob = ""
	}

	t.leaveOut(string(e.Path), manifest.WhyNever, 0)
	return true
}
