package proc

// Info describes process pid. The error is an fs.ErrNotExist when there is no such process or it
// is hidden.
func (t *Table) Info(pid int) (Info, error) {
	s, err := t.statusOfPID(pid)
	if err != nil {
		return Info{}, err
	}
	return t.infoOf(s), nil
}
