package demo

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// refuseReset makes gemini, which has the stick, try to throw codex's work away.
func (s *scene) refuseReset() error {
	if err := s.editFile(s.gemini, cartFile, cartHalfDone); err != nil {
		return err
	}
	s.cart = cartHalfDone

	r, err := s.runShell(s.gemini, "", "git reset --hard")
	if err != nil {
		return err
	}

	named := strings.Contains(r.Denied, pricesFile) && strings.Contains(r.Denied, "work of codex")
	if err := s.checkClaim(named, r.Denied,
		"refused before it ran, though gemini has the stick: the reason names the file and whose it is"); err != nil {
		return err
	}
	return s.checkWork("both files are as they were")
}

// checkWork checks that the uncommitted work of codex and gemini is there, byte by byte.
func (s *scene) checkWork(claim string) error {
	cart, prices := s.readText(cartFile), s.readText(pricesFile)
	return s.checkClaim(cart == s.cart && prices == s.prices, fmt.Sprintf("%q and %q", cart, prices), "%s", claim)
}

// undoScript makes opencode run a script that throws all work away, and the person undo that.
func (s *scene) undoScript() error {
	r, err := s.runShell(s.opencode, "", "sh "+scriptFile)
	if err != nil {
		return err
	}

	cart, prices := s.readText(cartFile), s.readText(pricesFile)
	lost := cart == emptyCart && prices == firstPrices
	if err := s.checkClaim(lost && r.Denied == "", fmt.Sprintf("%q and %q", cart, prices),
		"the uncommitted work of codex and gemini is gone from both files"); err != nil {
		return err
	}

	s.showAction(Action{
		Who: s.opencode.name, Note: "reads after it:", Output: strings.Split(r.Told, "\n"), lines: []string{"which took"},
	})

	call, err := s.lastCall()
	if err != nil {
		return err
	}
	if _, err := s.runCommand(tt(s.you, "calls", "--limit", "1").showing(scriptFile)); err != nil {
		return err
	}
	if _, err := s.runCommand(tt(s.you, "undo", call).showing("as before it", cartFile, pricesFile, "to undo this")); err != nil {
		return err
	}
	return s.checkWork("both files are back, byte by byte")
}

// lastCall returns the number of the last call of a tool, which must be the script's.
func (s *scene) lastCall() (string, error) {
	var list struct {
		Calls []struct {
			ID      int64  `json:"call_id"`
			Command string `json:"command"`
		} `json:"calls"`
	}
	if err := s.runJSON(s.you, &list, "calls", "--limit", "1"); err != nil {
		return "", err
	}
	if len(list.Calls) != 1 || !strings.Contains(list.Calls[0].Command, scriptFile) {
		return "", fmt.Errorf("the last call should be the script's, but the list is %+v", list.Calls)
	}
	return fmt.Sprint(list.Calls[0].ID), nil
}

// checkCopy checks that gemini's work is there after the takeover, and in the copy that the takeover names.
func (s *scene) checkCopy(taken reply) error {
	if err := s.checkWork("gemini's half-done work is still in the checkout"); err != nil {
		return err
	}

	rescueName := regexp.MustCompile(`tt rescue show (\S+)`)
	named := rescueName.FindStringSubmatch(taken.Out)
	if named == nil {
		return s.checkClaim(false, taken.Out, "the takeover names a copy of it")
	}

	var kept struct {
		Entries []struct {
			Path string `json:"path"`
		} `json:"entries"`
	}
	if err := s.runJSON(s.claude, &kept, "rescue", "show", named[1]); err != nil {
		return err
	}

	var paths []string
	for _, f := range kept.Entries {
		paths = append(paths, f.Path)
	}
	return s.checkClaim(slices.Contains(paths, cartFile), fmt.Sprint(paths), "and in the copy that the takeover names: %s", named[1])
}
