package manifest_test

import (
	"reflect"
	"testing"

	"talkingstick/internal/rescue/manifest"
)

// A field that is added to an entry has to be compared, or a change of it makes no snapshot.
func TestState_IsEqual_ComparesEveryField(t *testing.T) {
	stateOf := func(e manifest.Entry) manifest.State { return manifest.State{Head: "h", Entries: []manifest.Entry{e}} }
	full := func() manifest.Entry {
		return manifest.Entry{
			Head: &manifest.Version{Mode: "100644"}, Index: []manifest.Version{{OID: "1"}}, Work: &manifest.WorkFile{Size: 1},
		}
	}

	if !stateOf(full()).IsEqual(stateOf(full())) {
		t.Fatal("two states of the same content aren't equal")
	}
	if stateOf(full()).IsEqual(manifest.State{Entries: []manifest.Entry{full()}}) {
		t.Error("states of two commits are equal")
	}
	if stateOf(full()).IsEqual(manifest.State{Head: "h"}) {
		t.Error("a state is equal to one without its entry")
	}

	for i := range reflect.TypeFor[manifest.Entry]().NumField() {
		e := full()
		changeValue(t, reflect.ValueOf(&e).Elem().Field(i))
		if stateOf(full()).IsEqual(stateOf(e)) || stateOf(e).IsEqual(stateOf(full())) {
			t.Errorf("%s isn't compared", reflect.TypeFor[manifest.Entry]().Field(i).Name)
		}
	}
}

// changeValue gives a field another value.
func changeValue(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Pointer, reflect.Slice:
		v.SetZero()
	default:
		t.Fatalf("a field of kind %s: say how it changes", v.Kind())
	}
}
