package store

import (
	"crypto/rand"
	"encoding/hex"
)

// NewID makes a random id of 128 bits.
func NewID() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
