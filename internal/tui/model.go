package tui

import (
	"slices"

	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// model is all that the screen depends on. [drawModel] draws it, and [model.applyMessage] is the only
// function that changes it.
type model struct {
	picture       *monitor.Picture
	width, height int // of the terminal; 0 while it isn't known
	now           stick.Time
	home          string // the user's home directory
	color         bool
	ascii         bool

	pages  []opened // the last one is shown; the first is the one with everything
	serial int      // of the page that was opened last
	env    *env

	sought  string    // what a page was searched for last
	caption term.Text // what the scene shows that is played; empty for none
	ask     *question // nil if nothing is asked
	note    note
	unsent  map[term.Text][]rune // what was typed for questions that were left, by their texts
	ongoing []ongoingAct         // what is under way
	lastAct int                  // the number of the last one that was begun

	// unmerged says why the last merge of an approved task was refused, by the task's key. The log doesn't
	// say it.
	unmerged map[string]string
}

func newModel(o Options) model {
	return model{
		picture:  &monitor.Picture{},
		home:     o.Home,
		color:    o.Color,
		ascii:    o.ASCII,
		pages:    []opened{{page: roomsPage{}, lastIndex: -1}},
		unmerged: map[string]string{},
	}
}

// shownPage is the page that is shown.
func (m *model) shownPage() *opened { return &m.pages[len(m.pages)-1] }

// newCanvas returns what the pages are drawn from.
func (m *model) newCanvas() *canvas {
	return &canvas{
		picture:  m.picture,
		width:    m.width,
		height:   m.pageHeight(),
		now:      m.now,
		home:     m.home,
		unmerged: m.unmerged,
	}
}

// pageHeight is how many lines a page has: the first line and the last ones are taken.
func (m *model) pageHeight() int {
	last, _ := m.footLines()
	return max(0, m.height-1-len(last))
}

// headHeight is how many lines of a head are shown: it leaves half of the page to what scrolls. Of a head that is cut
// the last of its lines says so.
func headHeight(head, height int) (shown, taken int) {
	taken = min(head, max(height/2, 3))
	if head > taken {
		return taken - 1, taken
	}
	return taken, taken
}

// selectedTarget is what the keys act on.
func (m *model) selectedTarget() target { return m.shownPage().targetAt(m.picture, m.shownPage().key) }

// follower is a page of which the end is shown as long as the end is selected.
type follower interface{ followsEnd() bool }

// settleSelection makes the selection one that is there, and scrolls so that it is shown.
func (m *model) settleSelection() {
	o := m.shownPage()
	head, body := o.layoutLines(m.newCanvas())

	// What was selected stays selected while it is there, else what has taken its place.
	keys := keysOf(head, body)
	if len(keys) > 0 {
		if i := slices.Index(keys, o.key); i >= 0 {
			o.index = i
		}

		// Whoever was at the end of what follows its end stays there.
		if f, ok := o.page.(follower); ok && f.followsEnd() && o.index >= o.lastIndex {
			o.index = len(keys) - 1
		}

		o.index = min(max(o.index, 0), len(keys)-1)
		o.key = keys[o.index]
	} else {
		o.key = ""
	}

	o.lastIndex = len(keys) - 1

	height := m.pageHeight()
	shown, tall := headHeight(len(head), height)
	o.headTop = scrolledTop(head, o.key, o.headTop, shown)
	o.top = scrolledTop(body, o.key, o.top, height-tall)
}

// keysOf are the keys of the lines that can be selected.
func keysOf(parts ...[]line) (keys []string) {
	for _, part := range parts {
		for _, l := range part {
			if l.key != "" {
				keys = append(keys, l.key)
			}
		}
	}

	return keys
}

// scrolledTop returns which line has to be the first of so many that are shown, as near to top as possible,
// so that the one with the key is among them. The line above it is shown, too, if it is the title of what
// follows.
func scrolledTop(lines []line, key string, top, height int) int {
	if i := slices.IndexFunc(lines, func(l line) bool { return l.key == key && key != "" }); i >= 0 {
		// Titles have no key. At most two lines above count.
		first := i
		for first > 0 && lines[first-1].key == "" && len(lines[first-1].cells) > 0 && i-first < 2 {
			first--
		}

		top = max(min(top, first), i-height+1)
	}

	return min(max(top, 0), max(len(lines)-height, 0))
}

// moveSelection selects the line that is by lines further down, or scrolls if no line can be selected.
func (m *model) moveSelection(by int) {
	o := m.shownPage()

	head, body := o.layoutLines(m.newCanvas())
	if keys := keysOf(head, body); len(keys) > 0 {
		o.index = min(max(o.index+by, 0), len(keys)-1)
		o.key = keys[o.index]
	} else {
		o.top += by
	}

	m.settleSelection()
}

// targetAt finds what a row of the page with everything is about.
func (roomsPage) targetAt(p *monitor.Picture, key string) target {
	if n := needOf(p, key); n.Key != "" {
		t := target{room: n.Room, agent: n.Agent, message: n.Message, rescue: n.Rescue, need: n}
		// A message may be about a task: then the message is the target.
		if n.Message == 0 {
			t.task = n.Task
		}

		return t
	}

	for _, r := range p.Rooms {
		if "room "+string(r.ID()) == key {
			return target{room: r}
		}

		for _, m := range r.State.Members {
			if agentKey(r, m.AgentID) == key {
				return target{room: r, agent: m.AgentID}
			}
		}

		for _, t := range r.Tasks {
			if taskKey(r.ID(), t.TaskID) == key {
				return target{room: r, agent: t.Worker, task: t.TaskID}
			}
		}
	}

	return target{}
}
