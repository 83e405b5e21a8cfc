package proc

// Info describes process pid. The error is an fs.ErrNotExist when there is no such process or it
// is hidden.
func (t *Table) Info(pid int) (Info, error) {
	s, err := t.status(pid)
	if err != nil {
		return Info{}, err
	}
	return t.info(s), nil
}
