package modelapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Dialect is the name of a model API.
type Dialect string

// The dialects, and who speaks them here.
const (
	Anthropic Dialect = "anthropic" // Claude Code
	Responses Dialect = "responses" // Codex
	Gemini    Dialect = "gemini"    // Gemini CLI
	Chat      Dialect = "chat"      // OpenCode, Copilot, Qwen Code, pi
)

// Role says who has sent a message, and what kind it is.
type Role string

// The roles. The model sends calls, and the harness their results.
const (
	System  Role = "system" // also what OpenAI calls developer, in the midst of a conversation
	User    Role = "user"
	Model   Role = "model"
	Calling Role = "call"
	Result  Role = "result"
)

// Message is one piece of the conversation. The dialects group pieces differently; here each block
// of text, each call and each result stands alone, in its order.
type Message struct {
	Role Role
	Text string // of a call its arguments, of a result what the tool said

	Tool   string // of a call or a result: the tool's name as the model sees it
	CallID string
	Failed bool // a result that the harness marks as an error; only Anthropic's dialect can
}

// Request is a harness's request, in any dialect.
type Request struct {
	Session   string // the name of the session at this server
	Dialect   Dialect
	Model     string
	SessionID string // the harness's own id of its session, if it sends one
	System    string // the instructions beside the conversation
	Tools     []Tool // what it offers
	Messages  []Message
	Stream    bool

	// Side means that the script wasn't asked: a title, a token count, a list of models.
	Side bool

	Method string
	Path   string // without the part that names the session
	Header http.Header
	Body   []byte

	api   dialect
	count bool // of tokens
}

// Tool is a tool that a harness offers.
type Tool struct {
	Name        string // a namespace and a name are joined by two underscores, as hooks write it
	Description string

	namespace, name string   // as the model has to call it
	custom          bool     // it takes text instead of JSON
	code            bool     // only code can call it
	takes           []string // the parameters of an object, where they are known
}

// dialect reads and writes one API.
type dialect interface {
	readRequest(r *Request) error
	writeReply(w http.ResponseWriter, r *Request, said utterance)
	translateCall(r *Request, c Call) (native, error)
}

// utterance is a reply in the harness's words.
type utterance struct {
	text   string
	calls  []native
	status int // of HTTP; 0 if it is no error
}

// newRequest parses a request. api stays empty for an address that belongs to no model.
func newRequest(q *http.Request, session, path string) (*Request, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}

	r := &Request{Session: session, Side: true, Method: q.Method, Path: path, Header: q.Header, Body: body}
	if q.Method != http.MethodPost {
		return r, nil
	}

	model, verb, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ":")
	switch {
	case path == "/v1/messages", path == "/v1/messages/count_tokens":
		r.Dialect, r.api, r.count = Anthropic, anthropic{}, strings.HasSuffix(path, "tokens")
	case path == "/v1/responses":
		r.Dialect, r.api = Responses, responses{}
	case path == "/v1/chat/completions":
		r.Dialect, r.api = Chat, chat{}
	case strings.HasPrefix(path, "/v1beta/models/") &&
		slices.Contains([]string{"generateContent", "streamGenerateContent", "countTokens"}, verb):
		r.Dialect, r.api, r.count = Gemini, gemini{}, verb == "countTokens"
		r.Model, r.Stream = model, verb == "streamGenerateContent"
	default:
		return r, nil
	}

	if err := r.api.readRequest(r); err != nil {
		return nil, err
	}

	r.nameResults()
	// All harnesses offer tools when they want work done, and only then. The exception is a title that
	// Codex wants in a terminal.
	r.Side = r.count || len(r.Tools) == 0 || r.wantsTitle()
	return r, nil
}

// wantsTitle reports whether Codex only wants a title. It forks the session for that, with its tools.
func (r *Request) wantsTitle() bool {
	const titlePrompt = "Generate a concise, single-line task title"
	return r.Dialect == Responses && len(r.Messages) > 0 && strings.HasPrefix(r.Messages[len(r.Messages)-1].Text, titlePrompt)
}

// nameResults adds the tools' names to results, for dialects that send only ids.
func (r *Request) nameResults() {
	called := map[string]string{}
	for i, m := range r.Messages {
		switch {
		case m.Role == Calling:
			called[m.CallID] = m.Tool
		case m.Role == Result && m.Tool == "":
			r.Messages[i].Tool = called[m.CallID]
		}
	}
}

// answerOther answers requests that don't ask the model: token counts, lists of models, and everything outside the
// model APIs, such as a check that the server is there.
func (r *Request) answerOther(w http.ResponseWriter) {
	switch {
	case r.count:
		writeObject(w, map[string]any{"input_tokens": 1, "totalTokens": 1})
	case r.Method == http.MethodHead, r.Path == "/":
		w.WriteHeader(http.StatusOK)
	case r.Path == "/v1/models", r.Path == "/v1beta/models":
		writeObject(w, map[string]any{"object": "list", "data": []any{}, "models": []any{}})
	default:
		http.Error(w, `{"error":{"type":"not_found_error","message":"the scripted model API doesn't have that"}}`, http.StatusNotFound)
	}
}

// sideReply is the reply to side requests. A harness that wants JSON gets an object.
func sideReply(r *Request) string {
	for _, sign := range []string{"json_schema", "responseJsonSchema", "application/json"} {
		if strings.Contains(string(r.Body), sign) {
			return `{"title":"Scripted"}`
		}
	}
	return "Scripted"
}

// Offers reports whether the harness offers a tool of that name.
func (r *Request) Offers(name string) bool {
	_, ok := r.findTool(name)
	return ok
}

func (r *Request) findTool(names ...string) (Tool, bool) {
	for _, name := range names {
		for _, t := range r.Tools {
			if t.Name == name {
				return t, true
			}
		}
	}
	return Tool{}, false
}

// Text returns everything that the model would read: the instructions and the conversation, without the
// tools.
func (r *Request) Text() string {
	var b strings.Builder
	b.WriteString(r.System)
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "\n%s", m.Text)
	}
	return b.String()
}

// Results returns the results of tools so far, in order.
func (r *Request) Results() (out []Message) {
	for _, m := range r.Messages {
		if m.Role == Result {
			out = append(out, m)
		}
	}
	return out
}

// LastResult returns the last result of a tool, and the zero Message if there is none.
func (r *Request) LastResult() Message {
	if all := r.Results(); len(all) > 0 {
		return all[len(all)-1]
	}
	return Message{}
}

// textOf parses content that is a string or a list of blocks with text, as in three of the dialects. It leaves
// out what isn't text.
func textOf(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}

	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return string(content)
	}

	var parts []string
	for _, b := range blocks {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
