package upkeep_test

import (
	"bytes"
	"strings"
	"testing"

	"talkingstick/internal/engine/upkeep"
	"talkingstick/internal/scene"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
)

// exported is the room of an actor as tt export prints it.
func exported(t *testing.T, a *scene.Actor) string {
	t.Helper()
	var lines bytes.Buffer
	a.ExportRoom(upkeep.ExportRoomParams{Write: func(line any) error {
		b, err := stick.JSON(line)
		lines.Write(append(b, '\n'))
		return err
	}}).OK()
	return lines.String()
}

// TestExportRoom_AndImport: a person makes a room by its log where there was none, and it is exported as it was.
func TestExportRoom_AndImport(t *testing.T) {
	storetest.NeedsFile(t)
	s := scene.InGit(t)
	ann, pat := s.Agent("claude:a"), s.Person("pat")
	ann.Try().Granted(1)
	ann.Note("<b> & \u2028 \u200b \U000e0041 ü \x7f")
	ann.Release("wrote it", "review it").OK()
	was := exported(t, ann)

	for name, c := range map[string]struct {
		by   *scene.Actor
		from string
		code stick.Code
	}{
		"by an agent":     {ann, was, stick.CodePersonOnly},
		"where it is":     {pat, was, stick.CodeAlreadyExists},
		"nothing":         {pat, "", stick.CodeUsage},
		"a relative path": {pat, strings.Replace(was, `"canonical_path":"/`, `"canonical_path":"`, 1), stick.CodeUsage},
	} {
		e := c.by.ImportRoom(upkeep.ImportRoomParams{From: strings.NewReader(c.from)}).Refused(c.code)
		s.Check(e.Hint.String() != "", "%s: there is no hint", name)
	}

	pat.RemoveData(upkeep.RemoveDataParams{Remove: true}).OK()
	pat.ImportRoom(upkeep.ImportRoomParams{From: strings.NewReader(was)}).OK()
	if is := exported(t, ann); is != was {
		t.Errorf("it was\n%s\nand is\n%s", was, is)
	}
	ann.Try().Granted(2)
}
