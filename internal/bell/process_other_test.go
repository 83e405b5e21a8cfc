//go:build !linux && !windows

package bell

// platformRoles are the roles that only this system has.
var platformRoles map[string]func(*script) error
