// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const (
	// firstPause is how long the controller waits before it replaces the second pod in a row that
	// ends soon. Each further wait is twice as long, up to longestPause, like the back-off of the
	// kubelet for containers.
	firstPause   = 10 * time.Second
	longestPause = 5 * time.Minute
	// soon is the age up to which a pod that ends counts as one more in a row.
	soon = 10 * time.Minute
)

// ending is the last pod of a member that has ended.
type ending struct {
	pod types.UID
	// seen is when it was first seen to have ended.
	seen time.Time
	// inARow is how many pods of the member have ended soon, one after the other, including this
	// one.
	inARow int
}

// due is the time from which the pod may be replaced.
func (e ending) due() time.Time {
	if e.inARow < 2 {
		return e.seen
	}
	pause := longestPause
	if doublings := e.inARow - 2; doublings < 5 {
		pause = firstPause << doublings
	}
	return e.seen.Add(min(pause, longestPause))
}

// countEndings counts how often in a row the pod of each member has ended. It forgets members whose
// pod has run for long, and members that are not desired.
func (f *facts) countEndings() {
	if f.world.Cache.set != f.world.Set.UID {
		f.world.Cache.endings = nil
	}
	for _, m := range f.members {
		last, known := f.world.Cache.endings[m.ordinal]
		switch {
		case m.pod == nil || isTerminating(m.pod) || !isFinished(m.pod):
			if !known || m.pod != nil && f.world.Now.Sub(m.pod.CreationTimestamp.Time) >= soon {
				continue
			}
		case last.pod != m.pod.UID:
			if f.world.Now.Sub(m.pod.CreationTimestamp.Time) >= soon {
				last.inARow = 0
			}
			last = ending{pod: m.pod.UID, seen: f.world.Now, inARow: last.inARow + 1}
		}
		if f.endings == nil {
			f.endings = map[int]ending{}
		}
		f.endings[m.ordinal] = last
	}
}

// pauses reports until when the pod of a member, which has ended, is not replaced. A pod that ends
// as soon as it runs would otherwise be recreated as fast as the cluster can. There is no pause for
// a pod that an update would replace, because the update may fix it. A clock that is set back does
// not make the pause longer.
func (f *facts) pauses(m member) (until time.Time, pauses bool) {
	if _, how := f.target(m); how != keep && how != awaitRestart {
		return time.Time{}, false
	}
	last := f.endings[m.ordinal]
	until = last.due()
	return until, f.world.Now.Before(until) && !f.world.Now.Before(last.seen)
}
