package confedit

import (
	"encoding/json"

	"github.com/tailscale/hujson"
)

// Several harnesses keep hooks in the same shape: for each event an array of groups, and in each group a
// matcher and the array "hooks" of handlers.
//
//	{"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "…"}]}]}}
//
// A group is ours if it has handlers, and all of them are ours. People also move our handler into a group of
// theirs. That group is theirs; only the handler in it is ours.

// handlersKey is where a group has its handlers.
const handlersKey = "hooks"

// handlersOf returns the handlers of a group, nil if it doesn't have that shape: then it isn't ours.
func handlersOf(group *hujson.Value) (arr *hujson.Array, at int) {
	at, err := findMember(group, nil, handlersKey)
	if err != nil || at < 0 {
		return nil, -1
	}
	arr, _ = group.Value.(*hujson.Object).Members[at].Value.Value.(*hujson.Array)
	return arr, at
}

// inspectGroup reports whether a group is ours, and which of its handlers are.
func inspectGroup(group *hujson.Value, ours Ours) (own bool, at []int) {
	arr, _ := handlersOf(group)
	at = ownElements(arr, ours)
	return len(at) > 0 && len(at) == len(arr.Elements), at
}

// acceptHooks accepts for removal our groups, our handlers, and what is empty on the way to them.
func acceptHooks(path []string, ours Ours) func(at trail, v *hujson.Value, empty bool) bool {
	on := acceptPath(path)
	return func(at trail, v *hujson.Value, empty bool) bool {
		n := len(path)
		switch {
		case empty:
			return on(at, v, true)
		case len(at) <= n || !at[:n].isPath(path) || !at[n].elem:
			return false
		case len(at) == n+1:
			own, _ := inspectGroup(v, ours)
			return own
		}

		// What remains is a handler in somebody else's group.
		return len(at) == n+3 && at[n+1] == step{key: handlersKey} && at[n+2].elem && ours(rawJSON(v))
	}
}

// JSONPutHook puts our handler once into the array of groups at a path, such as {"hooks", "PreToolUse"}.
// ours recognises our handlers. group is the group that we want, with one handler, which ours accepts.
//
//   - If no handler of ours is there, group is appended.
//   - A group of ours stays in its place, and becomes equal to group.
//   - A handler of ours in somebody else's group stays there, under their matcher, and becomes equal to the
//     handler in group.
//   - Any further handler of ours is removed. One in a group of ours stays rather than one elsewhere.
func JSONPutHook(path []string, ours Ours, group any) Edit {
	compact, err := marshalCompact(group)
	if err != nil {
		return failingEdit(err)
	}

	var shape struct {
		Hooks []json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(compact, &shape); err != nil || len(shape.Hooks) != 1 || !ours(shape.Hooks[0]) {
		return failingEdit(&unsafeError{"the group to put doesn't have one handler of ours"})
	}

	return editJSON(func(d *jsonDoc) ([]splice, error) {
		steps, index, arr, err := d.findArray(path)
		if err != nil {
			return nil, err
		}
		if arr == nil {
			return d.createValue(steps, path, append(append([]byte("["), compact...), ']'))
		}

		keepGroup, keepHandler := chooseHandler(arr, ours)
		if keepGroup < 0 {
			return d.insertItem(steps, "", compact), nil
		}

		// Further handlers of ours go first, one in each round.
		if s := d.dropHook(steps, index, ours, len(path), keepGroup, keepHandler); s != nil {
			return s, nil
		}

		kept := &arr.Elements[keepGroup]
		if keepHandler < 0 {
			if !sameJSON(kept, compact) {
				return d.replaceValue(steps, kept, compact), nil
			}
			return nil, nil
		}

		// In somebody else's group our handler stays under their matcher.
		inner, at := handlersOf(kept)
		h := &inner.Elements[keepHandler]
		if !sameJSON(h, shape.Hooks[0]) {
			steps = append(steps, kept, &kept.Value.(*hujson.Object).Members[at].Value)
			return d.replaceValue(steps, h, shape.Hooks[0]), nil
		}
		return nil, nil
	}, acceptHooks(path, ours))
}

// chooseHandler chooses the handler of ours that stays: the first group of ours (handler is -1 then), else
// the first handler of ours in somebody else's group. group is -1 when there is none.
func chooseHandler(arr *hujson.Array, ours Ours) (group, handler int) {
	group, handler = -1, -1

	for i := range arr.Elements {
		own, at := inspectGroup(&arr.Elements[i], ours)
		if own {
			return i, -1
		}
		if len(at) > 0 && group < 0 {
			group, handler = i, at[0]
		}
	}
	return group, handler
}

// JSONRemoveHook removes our handlers from the array of groups at a path: our groups as a whole, and only the
// handler from somebody else's group. The array and the objects around it go too when they become empty,
// except those at path[:1] to path[:keep].
func JSONRemoveHook(path []string, ours Ours, keep int) Edit {
	return editJSON(func(d *jsonDoc) ([]splice, error) {
		steps, index, arr, err := d.findArray(path)
		if err != nil || arr == nil {
			return nil, err
		}
		return d.dropHook(steps, index, ours, keep, -1, -1), nil
	}, acceptHooks(path, ours))
}

// dropHook removes the last handler of ours that doesn't stay; nil when there is none.
func (d *jsonDoc) dropHook(steps []*hujson.Value, index []int, ours Ours, keep, keepGroup, keepHandler int) []splice {
	arr := steps[len(steps)-1].Value.(*hujson.Array)
	for i := len(arr.Elements) - 1; i >= 0; i-- {
		group := &arr.Elements[i]
		own, at := inspectGroup(group, ours)
		if own && i != keepGroup {
			return d.dropStep(append(steps, group), append(index, i), keep)
		}

		if own || len(at) == 0 {
			continue
		}

		last := at[len(at)-1]
		if i == keepGroup && last == keepHandler {
			continue
		}

		// The group is somebody else's: only the handler goes.
		_, m := handlersOf(group)
		l, _ := d.listOf(&group.Value.(*hujson.Object).Members[m].Value)
		return l.removeItem(last)
	}
	return nil
}

// findArray walks to the array at a path. steps ends before the path does when there is none.
func (d *jsonDoc) findArray(path []string) (steps []*hujson.Value, index []int, arr *hujson.Array, err error) {
	steps, index, err = d.walkPath(path)
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

// ownElements returns the indexes of our elements.
func ownElements(arr *hujson.Array, ours Ours) []int {
	var at []int
	if arr != nil {
		for i := range arr.Elements {
			if ours(rawJSON(&arr.Elements[i])) {
				at = append(at, i)
			}
		}
	}
	return at
}
