// Package realharness runs the real programs, as npm installs them: Claude Code, Codex, Gemini CLI
// and OpenCode, in a scratch home, against a scripted model API: each without a person at it, or in a
// pseudo-terminal with the test as the person. It is linked into tests only, and needs Linux.
//
//	place := realharness.NewPlace(t)
//	api := modelapi.Start(t).Session("claude", script)
//	claude := realharness.Claude.Prepare(t, place, realharness.Config{API: api.URL()})
//	// here tt install may edit what Prepare wrote
//	result := claude.Run(t, "Please do it.", realharness.Options{})
package realharness
