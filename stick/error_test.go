package stick_test

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

	"talkingstick/stick"
	"talkingstick/stick/sticktest"
)

// TestCodes reads the constants from the source, so that one without a row shows.
func TestCodes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[stick.Code]bool{}
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
			sticktest.Equal(t, s+" twice", constants[stick.Code(s)], false)
			constants[stick.Code(s)] = true
		}

		return true
	})

	rows := map[stick.Code]bool{}
	exits := []int{
		stick.ExitInternal, stick.ExitUsage, stick.ExitNotFound, stick.ExitRefused, stick.ExitFenced,
		stick.ExitBusy, stick.ExitEnvironment, stick.ExitHands, stick.ExitInterrupted,
	}
	for _, c := range stick.Codes {
		t.Run(string(c.Code), func(t *testing.T) {
			sticktest.Equal(t, "a second row", rows[c.Code], false)
			rows[c.Code] = true
			sticktest.Equal(t, "has a constant", constants[c.Code], true)
			sticktest.Equal(t, "has a meaning", c.Meaning != "", true)
			sticktest.Equal(t, "has an exit status", slices.Contains(exits, c.Exit), true)
			sticktest.Equal(t, "is found", c.Code.Info(), c)
		})
	}

	for c := range constants {
		sticktest.Equal(t, string(c)+" has a row", rows[c], true)
	}
	sticktest.Equal(t, "fenced",
		stick.CodeTurnMismatch.Info().Exit == stick.ExitFenced && stick.CodeStaleLease.Info().Exit == stick.ExitFenced,
		true)
	sticktest.Equal(t, "an unknown code", stick.Code("later").Info().Code, stick.CodeInternal)
}

func TestError(t *testing.T) {
	t.Run("JSON", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("a")
		_, err := f.TryRelease("b", stick.Fence{Turn: 1, Lease: "x"}, sticktest.Handoff)
		b, _ := json.Marshal(err)
		sticktest.Equal(t, "envelope", string(b), `{"current_owner":"a","current_turn_id":1,"error":"stale_lease",`+
			`"hint":"stop, and wait: tt wait; ask: tt msg send a \"…\"","message":"turn 1 isn't yours; a has just taken the stick",`+
			`"room_state":"owned"}`)

		b, _ = json.Marshal(stick.Errorf(stick.CodeNoRoom, "there is no room"))
		sticktest.Equal(t, "the least", string(b), `{"error":"no_room","message":"there is no room"}`)
	})

	t.Run("facts don't hide the code", func(t *testing.T) {
		b, _ := json.Marshal(stick.Errorf(stick.CodeNoRoom, "m").With("error", "x").With("message", "y"))
		sticktest.Equal(t, "envelope", string(b), `{"error":"no_room","message":"m"}`)
	})

	t.Run("the cause is kept and not shown", func(t *testing.T) {
		cause := errors.New("disk")
		e := stick.Errorf(stick.CodeInternal, "can't save: %w", cause)
		sticktest.Equal(t, "is", errors.Is(e, cause), true)
		b, _ := json.Marshal(&stick.Error{Code: stick.CodeInternal, Message: "m", Err: cause})
		sticktest.Equal(t, "envelope", string(b), `{"error":"internal","message":"m"}`)
	})

	t.Run("any error", func(t *testing.T) {
		sticktest.Equal(t, "none", stick.CodeOf(nil), "")
		sticktest.Equal(t, "none as an error", stick.AsError(nil) == nil, true)
		sticktest.Equal(t, "wrapped",
			stick.CodeOf(fmt.Errorf("x: %w", stick.Errorf(stick.CodeKicked, "k"))), stick.CodeKicked)
		sticktest.Equal(t, "foreign", stick.CodeOf(errors.New("x")), stick.CodeInternal)
		sticktest.Equal(t, "interrupted", stick.CodeOf(fmt.Errorf("x: %w", context.Canceled)), stick.CodeCanceled)
		sticktest.Equal(t, "too late", stick.CodeOf(context.DeadlineExceeded), stick.CodeCanceled)
	})
}

func TestCauses(t *testing.T) {
	var listed []stick.Cause
	for _, c := range stick.Causes {
		sticktest.Equal(t, string(c.Cause)+" has a meaning", c.Meaning != "", true)
		listed = append(listed, c.Cause)
	}

	want := []stick.Cause{
		stick.OwnerGone,
		stick.OwnerTimeout,
		stick.OwnerIdle,
		stick.ClaimTimeout,
		stick.RecipientGone,
		stick.OperatorRequested,
	}
	sticktest.Equal(t, "causes", slices.Equal(listed, want), true)
}

// TestErrorIsReadableAsJSON: a blank in a hint is <task>, not its escape for HTML.
func TestErrorIsReadableAsJSON(t *testing.T) {
	b, err := stick.JSON(stick.Errorf(stick.CodeUsage, "a & b").Hintf("%s", stick.Cmd("tt task show <task>")))
	if err != nil {
		t.Fatal(err)
	}
	sticktest.Equal(t, "JSON", string(b), `{"error":"usage","hint":"tt task show <task>","message":"a & b"}`)
}

// TestParseError reads back what another process has reported.
func TestParseError(t *testing.T) {
	e := stick.Errorf(stick.CodeStaleAttempt, "attempt 1 of x is over").With("task_id", "x").
		Hintf("to see how it ended: %s", stick.Cmd("tt task show <task_id>"))
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := stick.ParseError(b)
	if !ok ||
		got.Code != e.Code ||
		got.Message != e.Message ||
		got.Hint.String() != e.Hint.String() ||
		got.Fields["task_id"] != "x" ||
		len(got.Fields) != 1 {
		t.Errorf("%s became %+v", b, got)
	}

	for _, text := range []string{
		"", "begun", "panic: x", `{"error":"nonsense","message":"x"}`, `{"error":"usage"}`,
		`{"error":1,"message":"x"}`, "[]",
	} {
		if e, ok := stick.ParseError([]byte(text)); ok {
			t.Errorf("%q became %v", text, e)
		}
	}
}
