package sticktest

import (
	"fmt"

	"talkingstick/stick"
)

// Said returns the payload of an event whose type must have payloads P.
func Said[P stick.Payload](e stick.Event) P {
	p, ok := stick.PayloadOf[P](e)
	if !ok {
		panic(fmt.Sprintf("the payload of %s is no %T", e.Type, p))
	}
	return p
}
