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
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
)

// TestEveryOperationHasAStory: each exported operation is a method of the actor, and a story of the package that
// owns it uses that, by itself or through a verb that is made of it. Who adds an operation is told here
// that nobody tells of it.
func TestEveryOperationHasAStory(t *testing.T) {
	uses := calls(t, "*.go") // by method of the kit: what it is made of
	actor := reflect.TypeFor[*scene.Actor]()
	for folder, owner := range map[string]reflect.Type{"engine": reflect.TypeFor[*engine.Engine](), "task": reflect.TypeFor[*task.Tasks]()} {
		stories := calls(t, filepath.Join("..", folder, "*_test.go"))
		told := map[string]bool{}
		var tell func(name string)
		tell = func(name string) {
			if told[name] {
				return
			}
			told[name] = true
			for _, next := range uses[name] {
				tell(next)
			}
		}
		for _, names := range stories {
			for _, name := range names {
				tell(name)
			}
		}
		tell("sound") // each story ends with it
		for m := range owner.Methods() {
			if !operation(m) {
				continue
			}
			if _, ok := actor.MethodByName(m.Name); !ok && m.Name != "Check" && m.Name != "Delivered" && m.Name != "HookDelivered" && m.Name != "EditChecked" {
				t.Errorf("%s is an operation of %s, and no actor performs it: add it to operations.go", m.Name, folder)
			}
			if !told[m.Name] {
				t.Errorf("%s is an operation of %s, and no story tells of it", m.Name, folder)
			}
		}
	}
}

// operation tells whether a method is one: it takes a context first, and returns an error last, or a finding.
func operation(m reflect.Method) bool {
	f := m.Type
	return f.NumIn() > 1 && f.In(1).String() == "context.Context" && f.NumOut() > 0 && slices.Contains([]string{"error", "core.Finding"}, f.Out(f.NumOut()-1).String())
}

// calls lists by function which methods it names.
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
