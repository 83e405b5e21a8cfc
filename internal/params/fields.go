package params

import (
	"reflect"
	"strings"

	"talkingstick/stick"
)

// hidden are the parameters that nobody gives: those that make sense only on the command line, and those that
// the program fills in.
var hidden = map[string]bool{"workspace": true, "room_path": true, "from_now": true, "from_start": true, "name": true}

// hiddenIn reports whether a parameter is hidden in one struct, although others offer it.
func hiddenIn(of reflect.Type, name string) bool {
	return name == "path" && of.Name() == "Where"
}

// Names lists the parameters of an operation.
func Names(t reflect.Type) []string {
	var names []string
	for _, f := range Fields(t) {
		names = append(names, f.Name)
	}
	if HasContract(t) {
		names = append(names, Contract)
	}
	return names
}

// HasContract reports whether the parameters have the fields of a message's contract. A schema shows one
// object instead of them all, because every session pays for each; given by themselves they are accepted,
// too.
func HasContract(t reflect.Type) bool {
	f, ok := t.FieldByName("Contract")
	return ok && f.Anonymous && f.Type == reflect.TypeFor[stick.Contract]()
}

// Field is a parameter of an operation.
type Field struct {
	Name     string
	Optional bool
	reflect.StructField
}

// Fields lists what encoding/json reads into a struct, without hidden parameters.
func Fields(t reflect.Type) (out []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")

		switch {
		case f.Anonymous && name == "":
			out = append(out, Fields(f.Type)...)
		case name == "-" || !f.IsExported() || hidden[name] || hiddenIn(t, name):
		default:
			out = append(out, Field{name, strings.Contains(options, "omit") || f.Type.Kind() == reflect.Pointer, f})
		}
	}
	return out
}
