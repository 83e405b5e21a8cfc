package git

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"
)

// aliasName matches what can be the name of an alias.
var aliasName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`) })

// Alias returns what a word stands for as a command of git's in a directory, as the configuration has it. It
// is empty if it stands for nothing, or if git can't say before ctx ends.
func (c Client) ReadAlias(ctx context.Context, dir, name string) string {
	var out bytes.Buffer
	isName := aliasName().MatchString(name)
	if !isName || c.runReadOnly(ctx, dir, &out, "config", "--null", "--get", "alias."+name) != nil {
		return ""
	}

	return strings.TrimSuffix(out.String(), "\x00")
}
