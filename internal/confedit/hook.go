package confedit

import (
	"encoding/json"

	"github.com/tailscale/hujson"
)

// Hooks stand in the files of Claude Code, Codex and Gemini CLI in the same shape: for each event an
// array of groups, and in each group, beside a matcher, the array "hooks" of handlers.
//
//	{"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "…"}]}]}}
//
// A group is ours when all its handlers are, and there is one. People also move a handler of ours
// into a group of theirs; that group is theirs, and in it only the handler is ours.

// handlersKey is where a group has its handlers.
const handlersKey = "hooks"

// handlers gives the handlers of a group: nil when it hasn't the shape of one. Such a group isn't
// ours, and is left alone.
func handlers(group *hujson.Value) (arr *hujson.Array, at int) {
	at, err := member(group, nil, handlersKey)
	if err != nil || at < 0 {
		return nil, -1
	}
	arr, _ = group.Value.(*hujson.Object).Members[at].Value.Value.(*hujson.Array)
	return arr, at
}

// ownGroup tells whether a group is ours, and which of its handlers are.
func ownGroup(group *hujson.Value, ours Ours) (own bool, at []int) {
	arr, _ := handlers(group)
	at = matching(arr, ours)
	return len(at) > 0 && len(at) == len(arr.Elements), at
}

// inHooks accepts for leaving out our groups, our handlers, and what is empty on the way.
func inHooks(path []string, ours Ours) func(at trail, v *hujson.Value, empty bool) bool {
	on := onPath(path)
	return func(at trail, v *hujson.Value, empty bool) bool {
		n := len(path)
		switch {
		case empty:
			return on(at, v, true)
		case len(at) <= n || !at[:n].is(path) || !at[n].elem:
			return false
		case len(at) == n+1:
			own, _ := ownGroup(v, ours)
			return own
		}
		return len(at) == n+3 && at[n+1] == step{key: handlersKey} && at[n+2].elem && ours(raw(v))
	}
}

// JSONPutHook sees to it that our handler stands once in the array of groups at a path, as in
// {"hooks", "PreToolUse"}. ours tells our handlers from others; group is the group as we want it,
// with one handler, which ours accepts.
//
//   - If no handler of ours is there, group is appended.
//   - A group that is ours is made equal to group where it stands.
//   - A handler of ours in somebody's group stays there, under their matcher, and is made equal to the
//     handler in group.
//   - Further handlers of ours are taken away. One in a group of ours is preferred to stay.
func JSONPutHook(path []string, ours Ours, group any) Edit {
	compact, err := marshal(group)
	if err != nil {
		return failing(err)
	}
	var shape struct {
		Hooks []json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(compact, &shape); err != nil || len(shape.Hooks) != 1 || !ours(shape.Hooks[0]) {
		return failing(&unsafeError{"the group to put doesn't have one handler of ours"})
	}
	return editJSON(func(d *jsonDoc) ([]splice, error) {
		steps, index, arr, err := d.array(path)
		if err != nil {
			return nil, err
		}
		if arr == nil {
			return d.create(steps, path, append(append([]byte("["), compact...), ']'))
		}
		keepGroup, keepHandler := preferred(arr, ours)
		if keepGroup < 0 {
			return d.insert(steps, "", compact), nil
		}
		if s := d.dropHook(steps, index, ours, len(path), keepGroup, keepHandler); s != nil {
			return s, nil
		}
		kept := &arr.Elements[keepGroup]
		if keepHandler < 0 {
			if !sameJSON(kept, compact) {
				return d.replace(steps, kept, compact), nil
			}
			return nil, nil
		}
		inner, at := handlers(kept)
		h := &inner.Elements[keepHandler]
		if !sameJSON(h, shape.Hooks[0]) {
			return d.replace(append(steps, kept, &kept.Value.(*hujson.Object).Members[at].Value), h, shape.Hooks[0]), nil
		}
		return nil, nil
	}, inHooks(path, ours))
}

// preferred is which handler of ours is to stay: the first group of ours (handler is -1 then), else
// the first handler of ours in another's group. group is -1 when there is none.
func preferred(arr *hujson.Array, ours Ours) (group, handler int) {
	group, handler = -1, -1
	for i := range arr.Elements {
		own, at := ownGroup(&arr.Elements[i], ours)
		if own {
			return i, -1
		}
		if len(at) > 0 && group < 0 {
			group, handler = i, at[0]
		}
	}
	return group, handler
}

// JSONRemoveHook takes our handlers out of the array of groups at a path: groups of ours as a whole,
// from others' groups the handler alone. The array and the objects around it go too when they become
// empty, but for those at path[:1] to path[:keep].
func JSONRemoveHook(path []string, ours Ours, keep int) Edit {
	return editJSON(func(d *jsonDoc) ([]splice, error) {
		steps, index, arr, err := d.array(path)
		if err != nil || arr == nil {
			return nil, err
		}
		return d.dropHook(steps, index, ours, keep, -1, -1), nil
	}, inHooks(path, ours))
}

// dropHook takes the last handler of ours away that isn't to stay; nil when there is none.
func (d *jsonDoc) dropHook(steps []*hujson.Value, index []int, ours Ours, keep, keepGroup, keepHandler int) []splice {
	arr := steps[len(steps)-1].Value.(*hujson.Array)
	for i := len(arr.Elements) - 1; i >= 0; i-- {
		group := &arr.Elements[i]
		own, at := ownGroup(group, ours)
		if own && i != keepGroup {
			return d.drop(append(steps, group), append(index, i), keep)
		}
		if own || len(at) == 0 {
			continue
		}
		last := at[len(at)-1]
		if i == keepGroup && last == keepHandler {
			continue
		}
		_, m := handlers(group)
		l, _ := d.list(&group.Value.(*hujson.Object).Members[m].Value)
		return l.remove(last)
	}
	return nil
}

// array walks to the array at a path. steps is shorter than the path when there is none.
func (d *jsonDoc) array(path []string) (steps []*hujson.Value, index []int, arr *hujson.Array, err error) {
	steps, index, err = d.walk(path)
	if err != nil || len(steps) <= len(path) {
		return steps, index, nil, err
	}
	v := steps[len(path)]
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		return nil, nil, nil, &PathError{Path: path, Why: "is " + kindText(v) + ", not an array"}
	}
	return steps, index, arr, nil
}

// matching are the places of the elements that are ours.
func matching(arr *hujson.Array, ours Ours) []int {
	var at []int
	if arr != nil {
		for i := range arr.Elements {
			if ours(raw(&arr.Elements[i])) {
				at = append(at, i)
			}
		}
	}
	return at
}
