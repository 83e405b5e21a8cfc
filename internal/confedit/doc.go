// Package confedit edits the configuration files of other programs. It keeps every byte that isn't ours:
// comments, order, indentation, line ends, a byte order mark, a missing line end at the end of the file.
//
// An [Edit] is a function from a file's bytes to its new bytes. Functions named JSON… make edits for JSON
// with or without comments, TOML… for TOML, [SetBlock], [SetImport] and [RemoveBlock] for Markdown. [Files]
// reads a file, applies an edit, shows the difference and writes the result.
//
// # What every edit promises
//
//   - It parses the file first. If that fails ([MalformedError]), it changes nothing.
//   - It changes as little text as it can, one place after the other.
//   - It parses its own result. Unless everything that isn't ours still means the same, and doing the edit
//     again would change nothing, it fails and changes nothing.
//   - It doesn't touch what is already there, in whatever layout: twice is the same as once.
//   - Set something in a file that didn't have it, remove it again, and the file has its old bytes.
//   - A plain JSON file stays plain: we add no comment and no trailing comma.
//
// # Where the old bytes can't come back
//
// Only the file itself remembers what was there before. If a set makes two different files equal, a remove
// can't restore both. These are the cases. The result always means the same as the old file, except as said:
//
//   - A value that a set replaced is gone.
//   - An object, array or table that was empty looks, once something is in it, like one that the set made.
//     The argument keep of the removing edits says which ones to leave when they become empty.
//   - A JSON file of nothing but white space becomes {}.
//   - Comments and keys that somebody added inside our own value or table go with it.
//
// # Secrets
//
// These files hold tokens. Errors name places (line, column, path of keys), never contents. A diff shows
// lines of the file, as it must.
package confedit
