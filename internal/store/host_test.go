package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlanHost(t *testing.T) {
	const minute = bootLifetime
	for name, c := range map[string]struct {
		boots []hostBoot
		want  hostPlan
	}{
		"a host that nobody knows": {nil, hostPlan{begins: true}},
		"it was seen a moment ago": {
			[]hostBoot{{boot: "mine", began: 1, seen: 10*minute - 1}}, hostPlan{},
		},
		"it was seen a while ago": {
			[]hostBoot{{boot: "mine", began: 1, seen: 10*minute - seenInterval}}, hostPlan{seen: true},
		},
		"it has started again": {
			[]hostBoot{{boot: "before", began: 1, seen: 9 * minute}},
			hostPlan{begins: true, ends: []string{"before"}},
		},
		"so quickly that both may live": {
			[]hostBoot{{boot: "before", began: 1, seen: 9*minute + 1}}, hostPlan{begins: true},
		},
		"and a minute later": {
			[]hostBoot{{boot: "before", began: 1, seen: 9 * minute}, {boot: "mine", began: 2, seen: 10 * minute}},
			hostPlan{ends: []string{"before"}},
		},
		"what has ended ends once": {
			[]hostBoot{{boot: "before", began: 1, seen: 2, ended: 3}, {boot: "mine", began: 2, seen: 10 * minute}},
			hostPlan{},
		},
		"a copy of the disk began after us": {
			[]hostBoot{{boot: "mine", began: 1, seen: 10 * minute}, {boot: "copy", began: 2, seen: 10 * minute}},
			hostPlan{moves: true},
		},
		"and has taken us for an earlier boot": {
			[]hostBoot{{boot: "mine", began: 1, seen: 2, ended: 3}, {boot: "copy", began: 2, seen: 10 * minute}},
			hostPlan{moves: true},
		},
		"we are the copy, and both write": {
			[]hostBoot{{boot: "first", began: 1, seen: 10 * minute}, {boot: "mine", began: 2, seen: 10 * minute}},
			hostPlan{},
		},
		"nobody knows us, and others have ended": {
			[]hostBoot{{boot: "a", began: 1, seen: 2, ended: 3}, {boot: "b", began: 2, seen: 4}},
			hostPlan{begins: true, ends: []string{"b"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := planHost(c.boots, "mine", 10*minute)
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(hostPlan{})); d != "" {
				t.Error(d)
			}
		})
	}
}
