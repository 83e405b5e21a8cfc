package demo

import "os"

// readSingleKeys does nothing here: the console gives lines, so each key needs Enter.
func readSingleKeys(*os.File) (restore func()) { return func() {} }
