package names

// NameWords are the words of which names are made.
func NameWords() []string { return nameWords() }
