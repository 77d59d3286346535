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

// conditions is the oracle for docs/status.md, "Conditions": the conditions are true, and a set
// that is at rest without all of its members reports why.
type conditions struct {
	// wrong is true if the status may contain a time from a controller with a wrong clock.
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
		j.broken(o, "one: the conditions %v are True, want exactly one of Ready, Reconciling and Stalled", are)
	}
	stalled, progress := condition(set, v1.StatefulSetStalled), set.Status.LastProgressTime
	if stalled.Status != corev1.ConditionTrue || stalled.Reason != v1.ReasonProgressDeadlineExceeded || progress == nil || o.wrong {
		return
	}
	if since := now.Now.Sub(progress.Time); since < deadline(set)-time.Second {
		j.broken(o, "early: Stalled is True with ProgressDeadlineExceeded, but the last progress was only %s ago", since)
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
		j.broken(o, "stalled: members %v stay unavailable, but Stalled is %s; the message of Ready is: %s", missing, stalled.Status, ready.Message)
		return
	}
	named := slices.ContainsFunc(slices.Concat(missing, now.members()), func(n int) bool {
		return slices.ContainsFunc([]string{fmt.Sprintf("%s-%d", set.Name, n), fmt.Sprintf("ordinal %d", n)}, func(name string) bool {
			return says(ready.Message, name) || says(stalled.Message, name)
		})
	})
	// A set without the objects that it describes can do nothing, whatever its members lack.
	kind := slices.ContainsFunc(set.Status.ObjectTemplates, func(t v1.ObjectTemplateStatus) bool {
		return t.Message != "" && strings.Contains(stalled.Message, t.Message)
	})
	if !named && !kind {
		j.broken(o, "why: members %v stay unavailable, but the messages of Ready and Stalled name no member: %s; %s", missing, ready.Message, stalled.Message)
	}
}

// says reports whether a text contains a name, not only as the beginning of a longer one.
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

// members returns the ordinals of all pods that the set controls.
func (s *Scene) members() (all []int) {
	for name := range s.Pods {
		if n, is := ordinal(s.Set, name); is && s.podOf(n) != nil {
			all = append(all, n)
		}
	}
	return all
}

// judgeAvailable compares the condition Available with the pods. Pods that are updated in place
// count as unavailable even before they are.
func (o *conditions) judgeAvailable(j *Judge, now *Scene, missing int) {
	set := now.Set
	needed := max(replicas(set)-mostUnavailable(set), min(replicas(set), 1))
	enough, says := replicas(set)-missing >= needed, condition(set, v1.StatefulSetAvailable)
	switch {
	case !enough && says.Status != corev1.ConditionFalse:
		j.broken(o, "available: Available is %s, but only %d of %d members are available, and %d must be", says.Status, replicas(set)-missing,
			replicas(set), needed)
	case enough && says.Status != corev1.ConditionTrue && !now.isUpdatedInPlace():
		j.broken(o, "unavailable: Available is %s, although %d of %d members are available, and only %d must be", says.Status,
			replicas(set)-missing, replicas(set), needed)
	}
}

// unavailable returns the desired members that are not available.
func (s *Scene) unavailable() []int {
	return slices.DeleteFunc(desired(s.Set), func(n int) bool { return s.isAvailable(s.podOf(n)) })
}

// isUpdatedInPlace reports whether an update in place of any pod is in progress.
func (s *Scene) isUpdatedInPlace() bool {
	for _, pod := range s.Pods {
		if _, under := pod.Annotations[v1.InPlaceAnnotation]; under {
			return true
		}
	}
	return false
}
