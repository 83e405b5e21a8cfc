package bell

import (
	"fmt"
	"path/filepath"
)

// TakeConnection takes the first free number, from 1, among the live connections that share a name. It is
// free again after Unlock, or when the process ends, in whatever way. It fails on a name that isn't a plain
// id.
func (d *Dir) TakeConnection(name string) (number int, l *FileLock, err error) {
	if err := checkName(name); err != nil {
		return 0, nil, err
	}
	if err := makeFolder(d.connections); err != nil {
		return 0, nil, fmt.Errorf("number the connection: %w", err)
	}

	for number = 1; ; number++ {
		l, free, err := TryLock(filepath.Join(d.connections, fmt.Sprintf("%s-%d", name, number)))
		if err != nil {
			return 0, nil, fmt.Errorf("number the connection: %w", err)
		}
		if free {
			return number, l, nil
		}
	}
}
