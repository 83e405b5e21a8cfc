package main

// project is what a release says of whose it is. It stands here and nowhere else: docs/RELEASING.md says what its owner has to
// decide before the first release is published.
var project = struct {
	summary   string // one line
	published string // the address where releases are published; empty while they are published nowhere
}{
	summary:   "Several coding agents and people, one codebase, one talking stick",
	published: "",
}
