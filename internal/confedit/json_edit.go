package confedit

import (
	"github.com/tailscale/hujson"
)

// acceptPath accepts for removal the value at the path, and what is empty on the way to it.
func acceptPath(path []string) func(at trail, v *hujson.Value, empty bool) bool {
	return func(at trail, _ *hujson.Value, empty bool) bool {
		if empty {
			return len(at) <= len(path) && at.isPath(path[:len(at)])
		}
		return at.isPath(path)
	}
}

// JSONSet sets the value at a path of keys, and makes the objects on the way. A value that already means the
// same stays as it is written. value is anything that encoding/json can write; its fields keep their order.
func JSONSet(path []string, value any) Edit {
	compact, err := marshalCompact(value)
	if err != nil {
		return failingEdit(err)
	}
	if len(path) == 0 {
		return failingEdit(&PathError{Why: "can't be replaced as a whole"})
	}

	return editJSON(func(d *jsonDoc) ([]splice, error) {
		steps, _, err := d.walkPath(path)
		if err != nil {
			return nil, err
		}

		if len(steps) > len(path) {
			v := steps[len(path)]
			if sameJSON(v, compact) {
				return nil, nil
			}
			return d.replaceValue(steps[:len(path)], v, compact), nil
		}

		return d.createValue(steps, path, compact)
	}, acceptPath(path))
}

// createValue sets a value at a path that the file has only the first part of: it adds one member, with the
// objects for the rest of the path.
func (d *jsonDoc) createValue(steps []*hujson.Value, path []string, compact []byte) ([]splice, error) {
	n := len(steps) - 1

	// The objects are built from the innermost one outwards.
	for i := len(path) - 1; i > n; i-- {
		compact = append(append(append([]byte("{"), hujson.String(path[i])...), ':'), append(compact, '}')...)
	}
	return d.insertItem(steps, path[n], compact), nil
}

// JSONRemove removes the value at a path of keys. Objects on the path that become empty go too, except the
// root, those at path[:1] to path[:keep], and those that hold a comment. So keep 0 removes all that
// [JSONSet] made, and len(path) only the value.
func JSONRemove(path []string, keep int) Edit {
	if len(path) == 0 {
		return failingEdit(&PathError{Why: "you can't remove"})
	}

	return editJSON(func(d *jsonDoc) ([]splice, error) {
		steps, index, err := d.walkPath(path)
		if err != nil || len(steps) <= len(path) {
			return nil, err
		}
		return d.dropStep(steps, index, keep), nil
	}, acceptPath(path))
}

// dropStep removes the last step, and the steps around it that hold nothing else, down to keep. index has the
// place of each step in the one before it.
func (d *jsonDoc) dropStep(steps []*hujson.Value, index []int, keep int) []splice {
	// n is the step that is removed.
	n := len(steps) - 1
	for n-1 > max(keep, 0) {
		l, _ := d.listOf(steps[n-1])
		if len(l.items) != 1 || l.hasComment() {
			break
		}
		n--
	}

	l, _ := d.listOf(steps[n-1])
	return l.removeItem(index[n-1])
}
