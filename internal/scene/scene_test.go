package scene_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/engine/roster"
	"talkingstick/internal/engine/scopes"
	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
)

// TestEveryOperationHasAStory: each operation is a method of the actor, and a story in the operation's
// package calls it, directly or through a verb. Whoever adds an operation without a story learns of it here.
func TestEveryOperationHasAStory(t *testing.T) {
	uses := calls(t, "*.go") // the methods that each method of the kit calls
	actor := reflect.TypeFor[*scene.Actor]()
	for folder, owner := range map[string]reflect.Type{
		"engine": reflect.TypeFor[*engine.Engine](), "engine/eventlog": reflect.TypeFor[*eventlog.Log](),
		"engine/guard":         reflect.TypeFor[*guard.Guard](),
		"engine/guard/restore": reflect.TypeFor[*restore.Restorer](),
		"engine/upkeep":        reflect.TypeFor[*upkeep.Upkeep](),
		"engine/roster":        reflect.TypeFor[*roster.Roster](),
		"engine/scopes":        reflect.TypeFor[*scopes.Scopes](), "task": reflect.TypeFor[*task.Tasks](),
	} {
		stories := calls(t, filepath.Join("..", folder, "*_test.go"))
		covered := map[string]bool{}
		var cover func(name string)
		cover = func(name string) {
			if covered[name] {
				return
			}
			covered[name] = true
			for _, next := range uses[name] {
				cover(next)
			}
		}

		for _, names := range stories {
			for _, name := range names {
				cover(name)
			}
		}

		cover("sound") // each story ends with it
		for m := range owner.Methods() {
			if !operation(m) {
				continue
			}
			_, ok := actor.MethodByName(m.Name)
			if !ok && !slices.Contains(withoutActor, m.Name) {
				t.Errorf("%s is an operation of %s, and the actor has no such method: add it to operations.go or operations_task.go",
					m.Name, folder)
			}
			if !covered[m.Name] {
				t.Errorf("%s is an operation of %s, and no story calls it", m.Name, folder)
			}
		}
	}
}

// withoutActor are the operations that stories call by themselves.
var withoutActor = []string{
	"AgentName", "AgentNames", "AskedPerson", "Check", "CheckCopies", "EditChecked", "FinishSnapshots", "KeepTips", "NoteCommits", "RecordShown", "RecordShownByHook",
	"RescueFiles", "RunLander", "TellNews", "WatchRooms",
}

// operation reports whether a method is an operation: it takes a context first, and returns an error or a
// finding last.
func operation(m reflect.Method) bool {
	f := m.Type
	return f.NumIn() > 1 &&
		f.In(1).String() == "context.Context" &&
		f.NumOut() > 0 &&
		slices.Contains([]string{"error", "core.Finding"}, f.Out(f.NumOut()-1).String())
}

// calls returns the methods that each function names.
func calls(t *testing.T, pattern string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v", pattern, err)
	}

	out := map[string][]string{}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "scene_test") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}

		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}

			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					out[f.Name.Name] = append(out[f.Name.Name], s.Sel.Name)
				}
				return true
			})
		}
	}

	return out
}
