package main

// project is what a release says of whose it is. It stands here and nowhere else: docs/RELEASING.md says what
// its owner has to decide before the first release is published.
var project = struct {
	summary    string // one line
	published  string // the address where releases are published; empty while they are published nowhere
	maintainer string // of the Debian packages, as name and address
	debian     string // the name of the Debian packages
	npm        string // the package of npm that users install; those of the systems are called after it
}{
	summary:    "Several coding agents and people, one codebase, one talking stick",
	published:  "",
	maintainer: "Talking Stick contributors <nobody@example.invalid>",
	debian:     "talking-stick",
	npm:        "@talkingstick/tt",
}
