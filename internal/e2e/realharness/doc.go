// Package realharness runs real harnesses as npm installs them: Claude Code, Codex, Gemini CLI, OpenCode,
// Copilot CLI, Qwen Code and pi. They work in a scratch home against a scripted model API, either without a
// person, or in a pseudo-terminal where the test plays the person. Only tests link it, and it needs Linux.
//
//	place := realharness.NewPlace(t)
//	api := modelapi.Start(t).Session("claude", script)
//	claude := realharness.Claude.Prepare(t, place, realharness.Config{API: api.URL()})
//	// here tt install may edit what Prepare wrote
//	result := claude.Run(t, "Please do it.", realharness.Options{})
package realharness
