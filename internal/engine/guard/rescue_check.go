package guard

import (
	"context"
	"fmt"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// Check is the doctor's check of rescues. It reads what each of them is.
func (g *Guard) Check(ctx context.Context) core.Finding {
	sum, err := g.rescues().Sum(ctx)
	if stick.CodeOf(err) == stick.CodeGitMissing {
		return core.Finding{Status: core.FindingWarning, Detail: "not read, because git isn't there"}
	}
	if err != nil {
		return core.Fault(err)
	}
	if n := len(sum.Damaged); n > 0 {
		return core.Finding{
			Status: core.FindingWarning, Detail: fmt.Sprintf("%d of %s can't be read, such as %s", n, stick.Count(sum.Count, "rescue"), sum.Damaged[0]),
			Fix: "nothing brings it back; the next rescues aren't concerned",
		}
	}
	if sum.Count == 0 {
		return core.Finding{Status: core.FindingOK, Detail: "there are none"}
	}
	return core.Finding{
		Status: core.FindingOK,
		Detail: fmt.Sprintf("%s, %d MB on disk; tt rescue list --all shows them", stick.Count(sum.Count, "rescue"), (sum.Bytes+999_999)/1_000_000),
	}
}
