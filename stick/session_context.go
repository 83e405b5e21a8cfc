package stick

// MaxContext bounds the name of a context file.
const MaxContext = 64
