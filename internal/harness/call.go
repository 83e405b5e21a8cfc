package harness

// SessionOfCall returns the harness and the session that the _meta of an MCP call names. Both are empty if
// it names none.
func SessionOfCall(meta map[string]any) (harness, session string) {
	for _, r := range Rows {
		var at any = meta
		for _, part := range r.CallSession {
			inner, _ := at.(map[string]any)
			at = inner[part]
		}

		if id, ok := at.(string); ok && id != "" {
			return r.Name, id
		}
	}

	return "", ""
}
