package testenv

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"
)

// recorder is a test that remembers what was logged and whether it was skipped.
type recorder struct {
	testing.TB
	log            []string
	skipped, fatal bool
}

func (r *recorder) Helper()                           {}
func (r *recorder) Log(args ...any)                   { r.log = append(r.log, args[0].(string)) }
func (r *recorder) Skip(args ...any)                  { r.Log(args...); r.skipped = true }
func (r *recorder) Fatalf(format string, args ...any) { r.fatal = true }

// setShort sets -short until the test ends.
func setShort(t *testing.T, value string) {
	t.Helper()
	short := flag.Lookup("test.short").Value
	before := short.String()
	t.Cleanup(func() { _ = short.Set(before) })
	if err := short.Set(value); err != nil {
		t.Fatal(err)
	}
}

func TestSome(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e"}

	t.Run("in a long run all are played, and nothing is said", func(t *testing.T) {
		setShort(t, "false")
		r := &recorder{}
		if got := Some(r, Every, "letters", all, EveryNth[string](2)); !slices.Equal(got, all) || len(r.log) != 0 {
			t.Errorf("got %q, said %q", got, r.log)
		}
	})

	t.Run("in a short run the rest is said", func(t *testing.T) {
		setShort(t, "true")
		r := &recorder{}
		got := Some(r, Every, "letters", all, EveryNth[string](2))
		if !slices.Equal(got, []string{"a", "c", "e"}) ||
			!slices.Equal(r.log, []string{"left to every case: 2 of 5 letters"}) {
			t.Errorf("got %q, said %q", got, r.log)
		}
	})

	t.Run("a test that would keep nothing fails", func(t *testing.T) {
		setShort(t, "true")
		r := &recorder{}
		Some(r, Every, "letters", all, func(int, string) bool { return false })
		if !r.fatal {
			t.Error("it didn't fail")
		}
	})
}

func TestSkipShort(t *testing.T) {
	for _, short := range []string{"true", "false"} {
		t.Run("short="+short, func(t *testing.T) {
			setShort(t, short)
			r := &recorder{}
			SkipShort(r, Browser, "the pages in Chromium")
			said := strings.Join(r.log, "\n") == "left to browser: the pages in Chromium"
			if r.skipped != (short == "true") || said != r.skipped {
				t.Errorf("skipped: %v, said %q", r.skipped, r.log)
			}
		})
	}
}

func TestFull(t *testing.T) {
	for _, short := range []string{"true", "false"} {
		t.Run("short="+short, func(t *testing.T) {
			setShort(t, short)
			const says = "left to ci-full: sessions of gemini"

			r := &recorder{}
			if !LeavesToFull(r, false, "sessions of gemini") || !slices.Equal(r.log, []string{says}) {
				t.Errorf("without the flag it said %q", r.log)
			}

			r = &recorder{}
			if LeavesToFull(r, true, "sessions of gemini") || len(r.log) != 0 {
				t.Errorf("with the flag it said %q", r.log)
			}

			r = &recorder{}
			if SkipToFull(r, false, "sessions of gemini"); !r.skipped || !slices.Equal(r.log, []string{says}) {
				t.Errorf("without the flag: skipped %v, said %q", r.skipped, r.log)
			}

			r = &recorder{}
			if SkipToFull(r, true, "sessions of gemini"); r.skipped || len(r.log) != 0 {
				t.Errorf("with the flag: skipped %v, said %q", r.skipped, r.log)
			}
		})
	}
}

func TestNthByName(t *testing.T) {
	all := map[string]int{"a": 1, "b": 2, "c": 3, "d": 4}
	for short, want := range map[string]map[string]int{"true": {"a": 1, "d": 4}, "false": all} {
		t.Run("short="+short, func(t *testing.T) {
			setShort(t, short)
			if got := NthByName(&recorder{}, "letters", 3, all); !maps.Equal(got, want) {
				t.Errorf("got %v", got)
			}
		})
	}
}
