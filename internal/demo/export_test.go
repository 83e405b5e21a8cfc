package demo

// UsualLines are the lines that the narration leaves out.
var UsualLines = usualLines
