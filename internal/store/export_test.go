package store

// MovedTables is for the test that knows all tables.
var MovedTables = movedTables
