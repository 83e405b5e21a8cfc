// Package params reads the parameters of operations from JSON that a model or a program has written. It
// refuses what isn't a parameter: whoever misspells one should hear of it.
package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"talkingstick/stick"
)

// Operation is an operation whose parameters are read.
type Operation struct {
	Name     string
	Type     reflect.Type // of its parameters
	Required []string     // those that have to be given
}

// ReadGiven reads the names and values that a call gives. It fails with [stick.CodeUsage] if they aren't an
// object.
func (o Operation) ReadGiven(raw json.RawMessage) (map[string]json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil || given == nil {
			return nil, stick.Errorf(stick.CodeUsage, "the arguments of %s must be a JSON object", o.Name).With("field", "arguments")
		}
	}
	return given, nil
}

// Read reads what a call gives into the operation's parameters, and returns a pointer to them. It changes
// given. It fails with [stick.CodeUsage].
func (o Operation) Read(given map[string]json.RawMessage) (any, error) {
	names := Names(o.Type)
	for name, v := range given {
		if !slices.Contains(names, name) {
			return nil, stick.Errorf(stick.CodeUsage, "%s has no parameter %q", o.Name, stick.Clip(name, 40)).
				With("field", stick.Clip(name, 40)).
				Hintf("its parameters are %s", stick.Names(names, len(names)))
		}
		if string(bytes.TrimSpace(v)) == "null" {
			delete(given, name) // null means that it isn't given
		}
	}

	for _, name := range o.Required {
		if _, ok := given[name]; !ok {
			return nil, stick.Errorf(stick.CodeUsage, "%s needs %s", o.Name, name).With("field", name)
		}
	}

	if err := o.flattenContract(given); err != nil {
		return nil, err
	}

	// Models often write a single value where a list is asked for.
	wrapSingleValues(o.Type, given)

	p := reflect.New(o.Type)
	b, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}

	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(p.Interface()); err != nil && !errors.Is(err, io.EOF) {
		return nil, o.explainError(err)
	}
	return p.Interface(), nil
}

// Contract is a parameter that holds those fields of a message which only some categories have.
const Contract = "contract"

// flattenContract puts the fields of a contract among the other arguments, where the operation has them.
func (o Operation) flattenContract(given map[string]json.RawMessage) error {
	raw, ok := given[Contract]
	if !ok {
		return nil
	}

	var inside map[string]json.RawMessage
	if err := json.Unmarshal(raw, &inside); err != nil || inside == nil {
		return o.KindError(Contract, "an object")
	}

	known := map[string]bool{}
	for _, f := range stick.ContractFields {
		known[f.Name] = true
	}

	for name, v := range inside {
		if !known[name] {
			return stick.Errorf(stick.CodeUsage, "a contract has no field %q", stick.Clip(name, 40)).With("field", stick.Clip(name, 40))
		}
		given[name] = v
	}

	delete(given, Contract)
	return nil
}

// wrapSingleValues makes a list of one out of a single value where the parameter is a list, as models often write it.
func wrapSingleValues(t reflect.Type, given map[string]json.RawMessage) {
	for _, f := range Fields(t) {
		v := bytes.TrimSpace(given[f.Name])

		switch {
		case len(v) == 0 || string(v) == "null":
		case f.Type.Kind() == reflect.Slice && v[0] != '[':
			given[f.Name] = slices.Concat([]byte("["), v, []byte("]"))
		case f.Type.Kind() == reflect.Struct && v[0] == '{':
			inside := map[string]json.RawMessage{}
			if json.Unmarshal(v, &inside) == nil {
				wrapSingleValues(f.Type, inside)

				// It can't fail: it was just parsed.
				given[f.Name], _ = json.Marshal(inside)
			}
		}
	}
}

// explainError turns a decoding error into one that names the argument.
func (o Operation) explainError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return o.KindError(wrong.Field, jsonKind(wrong.Type))
	}
	if e, ok := errors.AsType[*stick.Error](err); ok {
		return e
	}

	why := strings.TrimPrefix(err.Error(), "json: ")
	e := stick.Errorf(stick.CodeUsage, "the arguments of %s can't be read: %s", o.Name, stick.Clip(why, 120)).With("field", "arguments")

	// encoding/json has no type for this error, which is about a field inside an object.
	if quoted, ok := strings.CutPrefix(why, "unknown field "); ok {
		if name, err := strconv.Unquote(quoted); err == nil {
			e.With("field", stick.Clip(name, 40))
		}
	}
	return e
}

// KindError is the error for a parameter that must be of another kind.
func (o Operation) KindError(field string, kind stick.Words) *stick.Error {
	return stick.Errorf(stick.CodeUsage, "%s of %s must be %s", field, o.Name, kind).With("field", field)
}

func jsonKind(t reflect.Type) stick.Words {
	switch t.Kind() {
	case reflect.Pointer:
		return jsonKind(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a whole number"
}
