package presence

// What the tests from outside of the package look at, and nobody else.

const LongCall = longCall

var (
	IsPrimary  = isPrimary
	FindElder  = findElder
	HasSession = hasSession
	ShortSum   = shortSum
)
