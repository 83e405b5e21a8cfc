// Package sticktest is for the tests of package stick and of its rooms: a [Fixture] is a room with its surroundings,
// in which short methods say what happens.
package sticktest
