// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// conditions hold docs/status.md, "Conditions": what they say is so, and a set that has come to rest
// without all of its members says why.
type conditions struct {
	// wrong is true if the status may have a time of a controller whose clock was wrong.
	wrong bool
}

func newConditions() *conditions { return &conditions{} }

func (*conditions) name() string { return "condition" }

func (o *conditions) changed(_ *Judge, _, after *Scene, _ Actor) {
	o.wrong = o.wrong || after.Skew != 0
}

func (o *conditions) synced(j *Judge, now *Scene, sync Sync) {
	set := now.Set
	if !sync.Clean || !works(set) {
		return
	}
	var are []v1.StatefulSetConditionType
	for _, kind := range []v1.StatefulSetConditionType{v1.StatefulSetReady, v1.StatefulSetReconciling, v1.StatefulSetStalled} {
		if condition(set, kind).Status == corev1.ConditionTrue {
			are = append(are, kind)
		}
	}
	if len(are) != 1 {
		j.broken(o, "one: of Ready, Reconciling and Stalled %v are True, want one", are)
	}
	stalled, progress := condition(set, v1.StatefulSetStalled), set.Status.LastProgressTime
	if stalled.Status != corev1.ConditionTrue || stalled.Reason != v1.ReasonProgressDeadlineExceeded || progress == nil || o.wrong {
		return
	}
	if since := now.Now.Sub(progress.Time); since < deadline(set)-time.Second {
		j.broken(o, "early: Stalled is True with ProgressDeadlineExceeded, and something has moved %s ago", since)
	}
}

func (o *conditions) rested(j *Judge, now *Scene) {
	set := now.Set
	if !works(set) || now.Skew != 0 {
		return
	}
	missing := now.unavailable()
	o.judgeAvailable(j, now, len(missing))
	if len(missing) == 0 {
		return
	}
	ready, stalled := condition(set, v1.StatefulSetReady), condition(set, v1.StatefulSetStalled)
	if stalled.Status != corev1.ConditionTrue {
		j.broken(o, "stalled: members %v are unavailable for good, and Stalled is %s: %s", missing, stalled.Status, ready.Message)
		return
	}
	named := slices.ContainsFunc(slices.Concat(missing, now.members()), func(n int) bool {
		return slices.ContainsFunc([]string{fmt.Sprintf("%s-%d", set.Name, n), fmt.Sprintf("ordinal %d", n)}, func(name string) bool {
			return says(ready.Message, name) || says(stalled.Message, name)
		})
	})
	// Without the objects that it describes a set can do nothing, whatever its members lack.
	kind := slices.ContainsFunc(set.Status.ObjectTemplates, func(t v1.ObjectTemplateStatus) bool {
		return t.Message != "" && strings.Contains(stalled.Message, t.Message)
	})
	if !named && !kind {
		j.broken(o, "why: members %v are unavailable for good, and the set names none of them: %s; %s", missing, ready.Message, stalled.Message)
	}
}

// says reports whether a text has a name, and not only as the beginning of another one.
func says(text, name string) bool {
	for {
		_, rest, found := strings.Cut(text, name)
		if !found || rest == "" || !isWord(rest[0]) {
			return found
		}
		text = rest
	}
}

func isWord(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }

// members are the ordinals of all pods that the set controls.
func (s *Scene) members() (all []int) {
	for name := range s.Pods {
		if n, is := ordinal(s.Set, name); is && s.podOf(n) != nil {
			all = append(all, n)
		}
	}
	return all
}

// judgeAvailable compares the condition Available with what is so. Pods that are updated in place count as
// unavailable before they are.
func (o *conditions) judgeAvailable(j *Judge, now *Scene, missing int) {
	set := now.Set
	needed := max(replicas(set)-mostUnavailable(set), min(replicas(set), 1))
	enough, says := replicas(set)-missing >= needed, condition(set, v1.StatefulSetAvailable)
	switch {
	case !enough && says.Status != corev1.ConditionFalse:
		j.broken(o, "available: Available is %s, %d of %d members are available, and %d have to be", says.Status, replicas(set)-missing,
			replicas(set), needed)
	case enough && says.Status != corev1.ConditionTrue && !now.isUpdatedInPlace():
		j.broken(o, "unavailable: Available is %s, although %d of %d members are available, and %d have to be", says.Status,
			replicas(set)-missing, replicas(set), needed)
	}
}

// unavailable are the members that a set asks for and that are not available.
func (s *Scene) unavailable() []int {
	return slices.DeleteFunc(desired(s.Set), func(n int) bool { return s.isAvailable(s.podOf(n)) })
}

// isUpdatedInPlace reports whether an update in place of any pod is under way.
func (s *Scene) isUpdatedInPlace() bool {
	for _, pod := range s.Pods {
		if _, under := pod.Annotations[v1.InPlaceAnnotation]; under {
			return true
		}
	}
	return false
}
