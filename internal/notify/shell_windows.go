package notify

// shell runs a line.
var shell = []string{"cmd", "/C"}
