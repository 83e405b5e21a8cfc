package stick

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// TestCodes reads the constants from the source, so that one without a row shows.
func TestCodes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[Code]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		if typ, ok := v.Type.(*ast.Ident); ok && typ.Name == "Code" {
			s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, s+" twice", constants[Code(s)], false)
			constants[Code(s)] = true
		}
		return true
	})
	rows := map[Code]bool{}
	exits := []int{ExitInternal, ExitUsage, ExitNotFound, ExitRefused, ExitFenced, ExitBusy, ExitEnvironment, ExitHands, ExitInterrupted}
	for _, c := range Codes {
		t.Run(string(c.Code), func(t *testing.T) {
			equal(t, "a second row", rows[c.Code], false)
			rows[c.Code] = true
			equal(t, "has a constant", constants[c.Code], true)
			equal(t, "has a meaning", c.Meaning != "", true)
			equal(t, "has an exit status", slices.Contains(exits, c.Exit), true)
			equal(t, "is found", c.Code.Info(), c)
		})
	}
	for c := range constants {
		equal(t, string(c)+" has a row", rows[c], true)
	}
	equal(t, "fenced", CodeTurnMismatch.Info().Exit == ExitFenced && CodeStaleLease.Info().Exit == ExitFenced, true)
	equal(t, "an unknown code", Code("later").Info().Code, CodeInternal)
}

func TestError(t *testing.T) {
	t.Run("JSON", func(t *testing.T) {
		f := room(t).member("a", "b").owns("a")
		_, err := f.release("b", Fence{1, "x"}, handoff)
		b, _ := json.Marshal(err)
		equal(t, "envelope", string(b), `{"current_owner":"a","current_turn_id":1,"error":"stale_lease",`+
			`"hint":"stop, and wait: tt wait; ask: tt msg send a \"…\"","message":"turn 1 isn't yours; a has just taken the stick",`+
			`"room_state":"owned"}`)
		b, _ = json.Marshal(Errorf(CodeNoRoom, "there is no room"))
		equal(t, "the least", string(b), `{"error":"no_room","message":"there is no room"}`)
	})
	t.Run("facts don't hide the code", func(t *testing.T) {
		b, _ := json.Marshal(Errorf(CodeNoRoom, "m").With("error", "x").With("message", "y"))
		equal(t, "envelope", string(b), `{"error":"no_room","message":"m"}`)
	})
	t.Run("the cause is kept and not shown", func(t *testing.T) {
		cause := errors.New("disk")
		e := Errorf(CodeInternal, "can't save: %w", cause)
		equal(t, "is", errors.Is(e, cause), true)
		b, _ := json.Marshal(&Error{Code: CodeInternal, Message: "m", Err: cause})
		equal(t, "envelope", string(b), `{"error":"internal","message":"m"}`)
	})
	t.Run("any error", func(t *testing.T) {
		equal(t, "none", CodeOf(nil), "")
		equal(t, "none as an error", AsError(nil) == nil, true)
		equal(t, "wrapped", CodeOf(fmt.Errorf("x: %w", Errorf(CodeKicked, "k"))), CodeKicked)
		equal(t, "foreign", CodeOf(errors.New("x")), CodeInternal)
		equal(t, "interrupted", CodeOf(fmt.Errorf("x: %w", context.Canceled)), CodeCanceled)
		equal(t, "too late", CodeOf(context.DeadlineExceeded), CodeCanceled)
	})
}

func TestCauses(t *testing.T) {
	var listed []Cause
	for _, c := range Causes {
		equal(t, string(c.Cause)+" has a meaning", c.Meaning != "", true)
		listed = append(listed, c.Cause)
	}
	want := []Cause{OwnerGone, OwnerTimeout, OwnerIdle, ClaimTimeout, RecipientGone, OperatorRequested}
	equal(t, "causes", slices.Equal(listed, want), true)
}

// TestErrorIsReadableAsJSON: a blank in a hint is <task>, not its escape for HTML.
func TestErrorIsReadableAsJSON(t *testing.T) {
	b, err := JSON(Errorf(CodeUsage, "a & b").Hintf("%s", Cmd("tt task show <task>")))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "JSON", string(b), `{"error":"usage","hint":"tt task show <task>","message":"a & b"}`)
}

// TestParseError reads back what another process has reported.
func TestParseError(t *testing.T) {
	e := Errorf(CodeStaleAttempt, "attempt 1 of x is over").With("task_id", "x").Hintf("to see how it ended: %s", Cmd("tt task show <task_id>"))
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := ParseError(b)
	if !ok || got.Code != e.Code || got.Message != e.Message || got.Hint.String() != e.Hint.String() || got.Fields["task_id"] != "x" || len(got.Fields) != 1 {
		t.Errorf("%s became %+v", b, got)
	}
	for _, text := range []string{"", "begun", "panic: x", `{"error":"nonsense","message":"x"}`, `{"error":"usage"}`, `{"error":1,"message":"x"}`, "[]"} {
		if e, ok := ParseError([]byte(text)); ok {
			t.Errorf("%q became %v", text, e)
		}
	}
}
