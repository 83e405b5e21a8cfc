// Package glob is about patterns of paths: which paths one matches, and how two of them meet. It
// decides both exactly, for patterns as people write them, in time that is bounded whatever they
// write. It is pure, and knows nothing of rooms, reservations or files.
package glob
