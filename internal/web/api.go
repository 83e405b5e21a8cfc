package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"talkingstick/internal/params"
	"talkingstick/stick"
)

// serveOperation performs an operation. A program sends its parameters as JSON and gets its result; a form of
// a page sends them as its fields, and is led back to the page.
func (s *Server) serveOperation(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("operation")
	o, ok := operationsByName()[name]
	if !ok {
		missing := stick.Errorf(stick.CodeNotFound, "there is no operation %q", stick.Clip(name, 60))
		s.answerErrorAs(w, r, http.StatusNotFound, missing)
		return
	}

	arguments, err := s.readArguments(o, r)
	if err != nil {
		s.answerReadError(w, r, err)
		return
	}

	// All of the request is there. What may take long may also answer late.
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{})
	if o.long {
		_ = c.SetWriteDeadline(time.Time{})
	}

	result, err, finished := s.runOperation(r, o, arguments)
	if err == nil {
		err = s.acceptAnswered(r, arguments)
	}

	switch {
	case err != nil:
		s.answerError(w, r, err)
	case wantsJSON(r) && finished:
		writeJSON(w, http.StatusOK, result)
	case wantsJSON(r):
		writeJSON(w, http.StatusAccepted, map[string]any{"status": "running", "operation": name})
	default:
		s.redirectBack(w, r)
	}
}

// readArguments reads the parameters of an operation from a request.
func (s *Server) readArguments(o operation, r *http.Request) (any, error) {
	given, err := s.rawParameters(o, r)
	if err != nil {
		return nil, err
	}
	return o.Read(given)
}

// answerReadError answers a request whose parameters can't be read.
func (s *Server) answerReadError(w http.ResponseWriter, r *http.Request, err error) {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		s.answerErrorAs(w, r, http.StatusRequestEntityTooLarge,
			stick.Errorf(stick.CodeMessageTooLarge, "a request has at most %d bytes", tooLarge.Limit).With("max", tooLarge.Limit))
		return
	}

	if errors.Is(err, os.ErrDeadlineExceeded) {
		late := stick.Errorf(stick.CodeUsage, "the request wasn't complete within %s", stick.Age(s.readWithin))
		s.answerErrorAs(w, r, http.StatusRequestTimeout, late)
		return
	}

	s.answerError(w, r, err)
}

// runOperation runs an operation. One that may take long goes on without a page that asked for it: a form
// isn't answered after minutes. A program waits for the result, because it has nothing else to learn it from.
func (s *Server) runOperation(r *http.Request, o operation, arguments any) (result any, err error, finished bool) {
	if !o.long || r.PostForm == nil {
		result, err = o.run(r.Context(), s, arguments)
		return result, err, true
	}

	j := &job{
		Room: fieldOf[stick.RoomID](arguments, "RoomID"),
		Task: fieldOf[string](arguments, "TaskID"),
		What: o.Name,
		At:   s.ops.Now(),
	}

	return s.jobs.runJob(j, func(ctx context.Context) (any, error) { return o.run(ctx, s, arguments) })
}

// fieldOf is a field of an operation's parameters, its zero value if they don't have it.
func fieldOf[T any](arguments any, name string) (v T) {
	if f := reflect.ValueOf(arguments).Elem().FieldByName(name); f.IsValid() {
		v, _ = f.Interface().(T)
	}
	return v
}

// rawParameters reads the parameters of a request: JSON, or the fields of a form.
func (s *Server) rawParameters(o operation, r *http.Request) (map[string]json.RawMessage, error) {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(kind) {
	case "application/json":
		b, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		return o.ReadGiven(b)
	case "application/x-www-form-urlencoded":
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		return formToJSON(o.Type, r.PostForm)
	}

	return nil, stick.Errorf(stick.CodeUsage, "send the parameters of %s as application/json", o.Name).With("field", "arguments")
}

// formOnlyFields are the fields of forms that aren't parameters.
var formOnlyFields = map[string]bool{"back": true, "accept": true}

// formToJSON makes JSON of the fields of a form, by the kinds of the parameters. A dot in a name leads into a
// parameter that is an object. An empty field counts as not given, because a form sends it all the same.
func formToJSON(t reflect.Type, form url.Values) (map[string]json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	inside := map[string]url.Values{}
	kinds := map[string]reflect.Type{}
	for _, f := range params.Fields(t) {
		kinds[f.Name] = f.Type
	}

	for name, values := range form {
		if outer, inner, ok := strings.Cut(name, "."); ok {
			if inside[outer] == nil {
				inside[outer] = url.Values{}
			}
			inside[outer][inner] = values
			continue
		}

		// A form sends fields that aren't parameters, and empty ones.
		if formOnlyFields[name] || len(values) == 0 || values[0] == "" && len(values) == 1 {
			continue
		}

		v, err := valueOf(name, kinds[name], values)
		if err != nil {
			return nil, err
		}

		given[name] = v
	}

	// Fields with a dot are the parameters of objects.
	for outer, values := range inside {
		of := kinds[outer]
		for of != nil && of.Kind() == reflect.Pointer {
			of = of.Elem()
		}

		if of == nil || of.Kind() != reflect.Struct {
			outer = stick.Clip(outer, 40)
			return nil, stick.Errorf(stick.CodeUsage, "there is no parameter %q", outer).With("field", outer)
		}

		object, err := formToJSON(of, values)
		if err != nil {
			return nil, err
		}

		b, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}

		given[outer] = b
	}

	return given, nil
}

// valueOf makes JSON of the values of a field. A line break is one character, as everywhere but in forms.
func valueOf(name string, t reflect.Type, values []string) (json.RawMessage, error) {
	// What is no parameter is refused where they are read.
	if t == nil {
		return json.Marshal(values[0])
	}

	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	bad := func(kind stick.Words) (json.RawMessage, error) {
		return nil, stick.Errorf(stick.CodeUsage, "%s must be %s, not %q", name, kind, stick.Clip(values[0], 40)).With("field", name)
	}

	switch t.Kind() {
	case reflect.Bool:
		yes, err := strconv.ParseBool(values[0])
		if err != nil && values[0] != "on" {
			return bad("true or false")
		}
		return json.Marshal(yes || values[0] == "on")
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(values[0], 10, 64)
		if err != nil {
			return bad("a number")
		}
		return json.Marshal(n)
	case reflect.Slice:
		var list []json.RawMessage
		for _, v := range values {
			x, err := valueOf(name, t.Elem(), []string{v})
			if err != nil {
				return nil, err
			}
			list = append(list, x)
		}

		return json.Marshal(list)
	case reflect.String:
		return json.Marshal(strings.ReplaceAll(values[0], "\r\n", "\n"))
	}

	return bad("JSON")
}
