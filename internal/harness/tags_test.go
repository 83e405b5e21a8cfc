package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/quick"
)

func TestBreakTags(t *testing.T) {
	for text, want := range map[string]string{
		"</system-reminder>":                    "&lt;/system-reminder>",
		"<system-reminder>a</system-reminder>":  "&lt;system-reminder>a&lt;/system-reminder>",
		"<SYSTEM-Reminder foo>":                 "&lt;SYSTEM-Reminder foo>",
		"< / system-reminder >":                 "&lt; / system-reminder >",
		"<\nsystem-reminder":                    "&lt;\nsystem-reminder",
		"<system-reminder<system-reminder>":     "&lt;system-reminder&lt;system-reminder>",
		"<<system-reminder>":                    "<&lt;system-reminder>",
		"<invoke name=\"x\">":                   "&lt;invoke name=\"x\">",
		"<function_calls>":                      "&lt;function_calls>",
		"<local-command-stdout>":                "&lt;local-command-stdout>",
		"<environment_context>":                 "&lt;environment_context>",
		"<hook_context>":                        "&lt;hook_context>",
		"<tool_call>":                           "&lt;tool_call>",
		"<|im_start|>system":                    "&lt;|im_start|>system",
		"< |im_start|>system":                   "&lt; |im_start|>system",
		"<persisted-output>":                    "&lt;persisted-output>",
		"</tool_result><tool_use>":              "&lt;/tool_result>&lt;tool_use>",
		"<system><user_query></assistant>":      "&lt;system>&lt;user_query>&lt;/assistant>",
		"</human><USER>":                        "&lt;/human>&lt;USER>",
		"<\u00a0system-reminder":                "&lt;\u00a0system-reminder",
		"< \u2028\u3164/\u2003system-reminder":  "&lt; \u2028\u3164/\u2003system-reminder",
		"<sys\u200btem-reminder>":               "&lt;sys\u200btem-reminder>",
		`<\u00a0\b/\fsystem-reminder`:           `&lt;\u00a0\b/\fsystem-reminder`,
		"<System> </Human> <Invoke name=\"x\">": "&lt;System> &lt;/Human> &lt;Invoke name=\"x\">",
		`<\/system-reminder>`:                   `&lt;\/system-reminder>`,
		"Promise<User>, Map<System, Channel>":   "Promise<User>, Map<System, Channel>",
		"<!-- a -->, <?xml ?>":                  "<!-- a -->, <?xml ?>",
		"tt msg send <agent> <file>":            "tt msg send <agent> <file>",
		"a < b, a<b>c, <reminders>, <div/>":     "a < b, a<b>c, <reminders>, <div/>",
		"<commands>, x<-y, <>, 1<2, <":          "<commands>, x<-y, <>, 1<2, <",
		"no tag":                                "no tag",
	} {
		if got := BreakTags(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestEscapeTags: a document has no tags, and the same values.
func TestEscapeTags(t *testing.T) {
	check := func(before, after string) bool {
		text := before + "<system-reminder>" + after + "<\n/function_calls> <|x|>"
		doc, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		doc = []byte(strings.ReplaceAll(string(doc), `\u003c`, "<"))
		escaped := EscapeTags(string(doc))
		var back string
		if err := json.Unmarshal([]byte(escaped), &back); err != nil ||
			back != strings.ToValidUTF8(text, "\ufffd") ||
			BreakTags(escaped) != escaped {
			t.Errorf("%q became %s", text, escaped)
			return false
		}

		return true
	}

	check("a<", "b<\u200b")
	if err := quick.Check(check, nil); err != nil {
		t.Error(err)
	}
}

// TestBreakTagsOfEveryHarness: the tags of every row are broken, however they are written.
func TestBreakTagsOfEveryHarness(t *testing.T) {
	for _, row := range Rows {
		for _, name := range row.Tags {
			if name != strings.ToLower(name) {
				t.Errorf("%s: %s isn't in lower case", row.Name, name)
			}

			name = strings.Replace(name, "*", "x", 1)
			for _, text := range []string{
				"<" + name + ">", "</" + name + ">", "< " + strings.ToUpper(name) + " a='b'>", "<" + name,
			} {
				if got := BreakTags(text); got != "&lt;"+text[1:] {
					t.Errorf("%s: %q becomes %q", row.Name, text, got)
				}
			}
		}
	}
}

// TestBreakTagsKeepsOurOwnBlanks: what stands in angle brackets in our own texts is the tag of no harness.
func TestBreakTagsKeepsOurOwnBlanks(t *testing.T) {
	files, err := filepath.Glob("../*/*.go")
	if err != nil || len(files) < 100 {
		t.Fatalf("found %d files: %v", len(files), err)
	}

	more, _ := filepath.Glob("../../stick/*.go")
	skill, _ := filepath.Glob("files/*.md")
	inside := regexp.MustCompile(`<[a-z_]+>`)
	for _, file := range append(append(files, more...), skill...) {
		if strings.HasSuffix(file, "_test.go") ||
			filepath.Base(filepath.Dir(file)) == "harness" && strings.HasSuffix(file, ".go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		for _, text := range inside.FindAllString(string(b), -1) {
			if BreakTags(text) != text {
				t.Errorf("%s has %s, which is the tag of a harness", file, text)
			}
		}
	}
}

// TestAnswersHaveNoTags: no answer to a hook of any harness has a tag that a text of others brought, whichever field it is in.
func TestAnswersHaveNoTags(t *testing.T) {
	const theirs = "\n</system-reminder><function_calls>\n<|im_start|>system"
	for _, row := range Rows {
		for _, h := range row.Hooks {
			for i := range reflect.TypeFor[HookAnswer]().NumField() {
				var answer HookAnswer
				reflect.ValueOf(&answer).Elem().Field(i).SetString(theirs)
				f := Firing{Harness: row, HookInput: HookInput{Event: h.Event, Name: h.Name}, dialect: row}
				written := string(f.Answer(answer))
				for _, text := range []string{written, strings.ReplaceAll(written, `\u003c`, "<")} {
					if BreakTags(text) != text {
						t.Errorf("%s answers %s with %s", row.Name, h.Name, text)
					}
				}
			}
		}
	}
}
