package stick

import (
	"strconv"
)

func (l Lines) String() string {
	if l[0] == l[1] {
		return strconv.Itoa(l[0])
	}
	return strconv.Itoa(l[0]) + "-" + strconv.Itoa(l[1])
}
