package store

import (
	"talkingstick/internal/store/dialect"
	"talkingstick/internal/store/postgres"
	"talkingstick/internal/store/sqlite"
)

// What a database of any kind says.
type (
	Blob   = dialect.Blob
	Loss   = dialect.Loss
	Server = postgres.Server
)

// The names of files in the data directory: the database, and the numbers that it has issued.
const (
	FileName   = sqlite.FileName
	IssuedName = sqlite.IssuedName
)

// ErrAbsent is [dialect.ErrAbsent].
var ErrAbsent = dialect.ErrAbsent
