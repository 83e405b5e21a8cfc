package edits_test

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

// TestMayRemove: no agent removes the root or the repository of a room that enforces anything.
func TestMayRemove(t *testing.T) {
	root := edits.Removing{By: "rm -rf ../app", Full: "/home/ann/app", Path: "."}
	for enforce, denies := range map[stick.Enforce]bool{
		stick.EnforceOff: false, stick.EnforceWarn: true, stick.EnforceScopes: true, stick.EnforceStick: true,
		"ask": false,
	} {
		f := sticktest.NewRoom(t).WithMembers("a").Alive("a").Owns("a")
		f.Policy.Enforce = enforce
		j := edits.MayRemove(f.Room, root)
		if (j.Denied != nil) != denies || j.Told != nil {
			t.Fatalf("%s: %+v", enforce, j)
		}

		if j.Denied != nil && (j.Denied.Code != stick.CodeEditDenied ||
			!slices.Equal(j.Denied.Fields["paths"].([]string), []string{"."}) ||
			len(j.Denied.Hint) == 0 ||
			j.Denied.Message != `"rm -rf ../app" would remove /home/ann/app, the root of the room`) {
			t.Errorf("%s: %s %v (%s)", enforce, j.Denied.Message, j.Denied.Fields, j.Denied.Hint)
		}

		byPerson := root
		byPerson.Person = true
		if j := edits.MayRemove(f.Room, byPerson); j != (edits.Judgement{}) {
			t.Errorf("%s, a person: %+v", enforce, j)
		}
		if f.Closed = true; edits.MayRemove(f.Room, root) != (edits.Judgement{}) {
			t.Errorf("%s: a closed room denies", enforce)
		}
	}

	f := sticktest.NewRoom(t).WithMembers("a").WithPolicy("enforce=stick")
	repository := edits.Removing{By: "mv .git x", Full: "/home/ann/app/.git", Path: ".git", Repository: true}
	if j := edits.MayRemove(f.Room, repository); j.Denied == nil ||
		!strings.HasSuffix(j.Denied.Message, "would remove /home/ann/app/.git, without which there is no repository") {
		t.Errorf("%+v", j)
	}
}
