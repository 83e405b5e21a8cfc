package confedit

import (
	"slices"

	"github.com/tailscale/hujson"
)

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

// inArray accepts for leaving out the elements of the array at path that are ours, and what is empty
// on the way there.
func inArray(path []string, ours Ours) func(at trail, v *hujson.Value, empty bool) bool {
	on := onPath(path)
	return func(at trail, v *hujson.Value, empty bool) bool {
		if empty {
			return on(at, v, true)
		}
		n := len(at) - 1
		return n == len(path) && at[n].elem && at[:n].is(path) && ours(raw(v))
	}
}

// JSONPutElement sees to it that the array at a path has one element of ours, and that it is this
// one: it appends it, making the array and the objects on the way, or replaces the one that is
// there, and takes further ones away. ours must accept element itself.
func JSONPutElement(path []string, ours Ours, element any) Edit {
	compact, err := marshal(element)
	if err != nil {
		return failing(err)
	}
	return editJSON(func(d *jsonDoc) ([]splice, error) {
		steps, index, arr, err := d.array(path)
		if err != nil {
			return nil, err
		}
		at := matching(arr, ours)
		switch {
		case len(steps) <= len(path):
			return d.create(steps, path, slices.Concat([]byte("["), compact, []byte("]")))
		case len(at) == 0:
			return d.insert(steps, "", compact), nil
		case len(at) > 1:
			return d.drop(append(steps, &arr.Elements[at[1]]), append(index, at[1]), len(path)), nil
		case !sameJSON(&arr.Elements[at[0]], compact):
			return d.replace(steps, &arr.Elements[at[0]], compact), nil
		}
		return nil, nil
	}, inArray(path, ours))
}

// JSONRemoveElements takes the elements that are ours out of the array at a path. The array and the
// objects around it go too when they become empty, but for those at path[:1] to path[:keep].
func JSONRemoveElements(path []string, ours Ours, keep int) Edit {
	return editJSON(func(d *jsonDoc) ([]splice, error) {
		steps, index, arr, err := d.array(path)
		if err != nil {
			return nil, err
		}
		at := matching(arr, ours)
		if len(at) == 0 {
			return nil, nil
		}
		last := at[len(at)-1]
		return d.drop(append(steps, &arr.Elements[last]), append(index, last), keep), nil
	}, inArray(path, ours))
}
