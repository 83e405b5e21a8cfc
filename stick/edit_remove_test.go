package stick

import (
	"slices"
	"strings"
	"testing"
)

// TestMayRemove: no agent removes the root or the repository of a room that enforces anything.
func TestMayRemove(t *testing.T) {
	root := Removing{By: "rm -rf ../app", Full: "/home/ann/app", Path: "."}
	for enforce, denies := range map[Enforce]bool{EnforceOff: false, EnforceWarn: true, EnforceScopes: true, EnforceStick: true, "ask": false} {
		f := room(t).member("a").alive("a").owns("a")
		f.Policy.Enforce = enforce
		j := f.MayRemove(root)
		if (j.Denied != nil) != denies || j.Told != nil {
			t.Fatalf("%s: %+v", enforce, j)
		}
		if j.Denied != nil && (j.Denied.Code != CodeEditDenied || !slices.Equal(j.Denied.Fields["paths"].([]string), []string{"."}) || len(j.Denied.Hint) == 0 ||
			j.Denied.Message != `"rm -rf ../app" would remove /home/ann/app, the root of the room`) {
			t.Errorf("%s: %s %v (%s)", enforce, j.Denied.Message, j.Denied.Fields, j.Denied.Hint)
		}
		byPerson := root
		byPerson.Person = true
		if j := f.MayRemove(byPerson); j != (Judgement{}) {
			t.Errorf("%s, a person: %+v", enforce, j)
		}
		if f.Closed = true; f.MayRemove(root) != (Judgement{}) {
			t.Errorf("%s: a closed room denies", enforce)
		}
	}
	f := room(t).member("a").policy("enforce=stick")
	repository := Removing{By: "mv .git x", Full: "/home/ann/app/.git", Path: ".git", Repository: true}
	if j := f.MayRemove(repository); j.Denied == nil || !strings.HasSuffix(j.Denied.Message, "would remove /home/ann/app/.git, without which there is no repository") {
		t.Errorf("%+v", j)
	}
}
