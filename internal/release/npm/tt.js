#!/usr/bin/env node
// Runs the program tt, which lies in the package for this system, in the place of this script: with the same arguments, terminal and
// files, with the signals that this process gets, and with its exit status. Hooks and MCP servers that tt installs name the program
// itself, because starting Node takes longer than most commands of tt.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { name } = require("../package.json");

const CANNOT = 7; // tt's exit status where the environment is at fault
const system = `${process.platform}-${process.arch}`;

function fail(problem, hint) {
	process.stderr.write(`tt: ${problem}\nhint: ${hint}\n`);
	process.exit(CANNOT);
}

let program;
try {
	program = require.resolve(`${name}-${system}/bin/tt${process.platform === "win32" ? ".exe" : ""}`);
} catch {
	fail(`the package ${name}-${system} isn't installed, which holds the program for this system`, `install ${name} again, without --omit=optional`);
}

// Signals are heard before there is a program: one in between would end this process, and leave the program behind.
let child;
const passed = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
for (const signal of passed) {
	// A terminal sends it to both. tt takes the first one, and ends.
	try {
		process.on(signal, () => child.kill(signal));
	} catch {
		// this system doesn't have it
	}
}
child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (err) => fail(`${program} can't be started: ${err.message}`, `install ${name} again`));
child.on("exit", (status, signal) => {
	if (signal === null) {
		process.exit(status);
	}
	for (const s of passed) {
		process.removeAllListeners(s);
	}
	process.kill(process.pid, signal); // so that whoever waits for this process sees how the program ended
	setTimeout(() => process.exit(128 + constants.signals[signal]), 1000);
});
