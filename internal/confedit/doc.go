// Package confedit edits the configuration files of other programs, and keeps every byte that isn't
// ours: comments, order, indentation, line ends, a byte order mark, a missing last line end.
//
// An [Edit] is a function from the bytes of a file to its new bytes. The constructors make them:
// JSON… for JSON with or without comments, TOML… for TOML, [SetBlock] and its kin for Markdown.
// [Files] reads a file, applies an edit, shows the difference and writes it.
//
// # What every edit promises
//
//   - It parses first, and refuses what doesn't parse ([MalformedError]); then nothing is changed.
//   - It changes as little text as it can, at one place after the other.
//   - It parses its own result, and gives up with an error, changing nothing, unless everything that
//     isn't ours means the same as before and doing the edit again would change nothing.
//   - What is there already, in whatever layout, isn't touched: doing it twice is doing it once.
//   - Removing what was set into a file that didn't have it gives the file's first bytes again.
//   - A plain JSON file stays plain: no comment and no trailing comma comes in by us.
//
// # Where the first bytes can't come back
//
// Nothing but the file itself remembers what was there before, so two files that become the same by
// a set can't both come back by a remove. These are the cases; the result means the same as the
// file before, less what is said:
//
//   - A value that a set replaced is gone.
//   - An object, array or table that stood there empty looks, once something was put into it, like
//     one that the set made. The argument keep of the removing edits says which to leave when they
//     become empty; exact is a keep that names what was there before.
//   - A JSON file of nothing but white space becomes {}.
//   - Comments that somebody wrote inside of our own value or table go with it, and so do keys that
//     somebody added there.
//
// # Secrets
//
// These files hold tokens. Errors name places (line, column, path of keys), never contents. A
// difference shows lines of the file, by nature.
package confedit
