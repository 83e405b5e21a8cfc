package scene

import (
	"sync"

	"talkingstick/internal/testenv"
)

// templates are the workspaces that stories begin with, by their names.
var templates struct {
	mu   sync.Mutex
	made map[string]*testenv.Template
}

// copyTemplate makes the workspace a copy of a template. build makes the template in the workspace of the
// first story that asks.
func (s *Scene) copyTemplate(name string, build func()) {
	s.Helper()
	err := namedTemplate(name).Copy(s.Work, func() error {
		build()
		return nil
	}, ".talking-stick") // newScene has made it
	if err != nil {
		s.Fatal(err)
	}
}

func namedTemplate(name string) *testenv.Template {
	templates.mu.Lock()
	defer templates.mu.Unlock()
	if templates.made == nil {
		templates.made = map[string]*testenv.Template{}
	}
	if templates.made[name] == nil {
		templates.made[name] = &testenv.Template{}
	}
	return templates.made[name]
}
