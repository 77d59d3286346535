// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestEachMemberThatIsNotNextSaysWhy(t *testing.T) {
	for sentence, test := range map[string]struct {
		script string
		want   []string
	}{
		"of a set that is as it is to be there are none": {script: "set replicas=3; settle"},
		"an update takes as many as may be unavailable": {
			script: "set replicas=4 policy=Parallel maxUnavailable=2; settle; set image=nginx:2",
			want: []string{"1 Budget: unavailable members: 2 allowed, 2 now or after this sync",
				"0 Budget: unavailable members: 2 allowed, 2 now or after this sync"},
		},
		"those below the partition are left alone": {
			script: "set replicas=2 partition=1; settle; set image=nginx:2",
			want:   []string{"0 Partition: the partition excludes the first 1 ordinals from the update"},
		},
		"an update is paused": {
			script: "set replicas=1 paused=true; settle; set image=nginx:2", want: []string{"0 Paused: the update is paused"}},
		"a set is on hold": {
			script: "set replicas=2; settle; set image=nginx:2; look; hold",
			want:   []string{"0 Held: the set is suspended, or waits for its revisions"},
		},
		"a strategy leaves it to people": {
			script: "set replicas=1 strategy=OnDelete; settle; set image=nginx:2",
			want:   []string{"0 OnDelete: the update strategy is OnDelete: delete the pod to have it recreated"},
		},
		"a step reaches no more": {
			script: "set replicas=3 steps=1/100%; settle; set image=nginx:2; look",
			want: []string{
				"1 StepQuota: step 1/2 of the update reaches 1 of 3 members", "0 StepQuota: step 1/2 of the update reaches 1 of 3 members"},
		},
		"an ordered set waits for a member that is not ready": {
			script: "set replicas=2; settle; unready web-0; set image=nginx:2",
			want: []string{"1 Predecessor: web-0: running but not ready since 2026-01-01T00:00:00Z",
				"0 Predecessor: web-0: running but not ready since 2026-01-01T00:00:00Z"},
		},
		"the leader is last": {
			script: "set replicas=2 policy=Parallel maxUnavailable=2 last=role=leader; settle; lead web-1; set image=nginx:2",
			want:   []string{"1 Order: it is last (role=leader); waiting for web-0"},
		},
		"budgets do not know yet of a member that restarts": {
			script: "set replicas=2 policy=Parallel maxUnavailable=2 inPlace=IfPossible; settle; set image=nginx:2; set method=Evict; look",
			want:   []string{"0 Budget: waiting for the PodDisruptionBudget to observe that pod web-1 is not ready"},
		},
		"a gate has yet to agree": {
			script: "set replicas=1 gates=handed-over; settle; set image=nginx:2; look; look", want: []string{"0 Gate: waiting for its disruption gates"},
		},
		"an update in place is impossible": {
			script: "set replicas=1 inPlace=Only; settle; set service=other claims=www volumeClaimUpdate=NewClaims",
			want:   []string{"0 InPlaceImpossible: pod web-0 cannot be updated in place"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := &stage{host: newHost(t, Compute)}
			for command := range strings.SplitSeq(test.script, "; ") {
				s.tell(strings.Fields(command))
			}
			var got []string
			for _, due := range DelayedMembers(s.world(), 10) {
				got = append(got, fmt.Sprintf("%d %s: %s", due.Ordinal, due.WhyNot, due.Message))
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
}

func TestNoMoreMembersAreListedThanAskedFor(t *testing.T) {
	s := &stage{host: newHost(t, Compute)}
	for _, command := range []string{"set replicas=5 strategy=OnDelete", "settle", "set image=nginx:2"} {
		s.tell(strings.Fields(command))
	}
	if got := DelayedMembers(s.world(), 3); len(got) != 3 || got[0].Ordinal != 4 {
		t.Errorf("got %+v, want 3 members, the highest first", got)
	}
}
