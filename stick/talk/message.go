package talk

import (
	"slices"
	"strings"

	"talkingstick/stick"
)

// ParseCategory finds a category by its name, in upper or lower case. The empty name is [stick.Info]. It fails
// with [stick.CodeUsage].
func ParseCategory(s string) (stick.Category, error) {
	if s == "" {
		return stick.Info, nil
	}

	for _, c := range stick.Categories {
		if strings.EqualFold(s, string(c.Category)) {
			return c.Category, nil
		}
	}

	// The refusal lists what there is.
	names := make([]string, len(stick.Categories))
	for i, c := range stick.Categories {
		names[i] = string(c.Category)
	}

	return "", stick.Errorf(stick.CodeUsage, "there is no category %q", stick.Clip(s, 40)).With("field", "category").
		Hintf("the categories are %s", stick.Names(names, len(names)))
}

// urgencies are the words for how urgent it is that somebody gets what is missing. low can wait for the end
// of the recipient's turn, and with high the sender can't go on with anything else.
var urgencies = []string{"low", "normal", "high"}

// Check refuses a message that can't be stored or says nothing. It fails with [stick.CodeMessageTooLarge] for one
// that is too long, and otherwise with [stick.CodeUsage].
func Check(m stick.Message) error {
	size := 0
	says := m.Says()
	for _, f := range says {
		v := *f.Field(&m.Contract)

		// A field of another category would be shown nowhere.
		if f.Category != m.Category {
			return stick.BadMessage(f.Name, "%s is only for %s messages, and "+
				"this one is %s", f.Name, f.Category,
				m.Category).
				Hintf("add --category %s", f.Category)
		}

		if err := stick.CheckText(f.Name, v); err != nil {
			return err
		}

		size += len(v)
	}

	if m.Hint != "" && m.Hint != stick.Interrupt {
		return stick.BadMessage("delivery_hint", "a delivery hint is %s or nothing, not %q", stick.Interrupt,
			stick.Clip(m.Hint, 40))
	}

	if u := m.Urgency; u != "" && !slices.Contains(urgencies, u) {
		return stick.BadMessage("urgency", "urgency is low, normal or high, not %q", stick.Clip(u, 40))
	}

	if o := m.Overlap; o != "" && o != "exact" && o != "partial" {
		return stick.BadMessage("overlap", "overlap is exact or partial, not %q", stick.Clip(o, 40))
	}

	for _, f := range []struct{ name, text string }{{"body", m.Body}, {"subject", m.Subject}, {"thread", m.Thread}} {
		if err := stick.CheckText(f.name, f.text); err != nil {
			return err
		}
	}

	switch {
	// A contract says enough without a body.
	case strings.TrimSpace(m.Body) == "" && len(says) == 0:
		return stick.BadMessage("body", "the message is empty").Hintf("write some text")
	case len(m.Body) > stick.MaxBody:
		return stick.TooLarge("body", "the message", len(m.Body), stick.MaxBody)
	case size > stick.MaxContract:
		return stick.TooLarge("contract", "what the contract says", size, stick.MaxContract)
	case len(m.Subject) > stick.MaxSubject:
		return stick.TooLarge("subject", "the subject", len(m.Subject), stick.MaxSubject)
	case len(m.Thread) > stick.MaxLabel:
		return stick.TooLarge("thread", "the thread", len(m.Thread), stick.MaxLabel)
	}
	return nil
}
