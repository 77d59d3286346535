// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conditions is the only place that sets conditions in the status of a set. The planner,
// the registry, and the code for stand-ins of damaged sets provide the values.
package conditions

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// Condition is the content of a condition. Its message has times, not durations: a duration would
// change on every sync, and each change would be written.
type Condition struct {
	// Status is empty if the condition does not change.
	Status          corev1.ConditionStatus
	Reason, Message string
}

// Conditions are the conditions that we set.
type Conditions struct{ Available, Ready, Progressing, Reconciling, Stalled Condition }

// named are the conditions in the order in which a new status lists them.
func (c Conditions) named() []v1.StatefulSetCondition {
	of := func(kind v1.StatefulSetConditionType, says Condition) v1.StatefulSetCondition {
		return v1.StatefulSetCondition{Type: kind, Status: says.Status, Reason: says.Reason, Message: says.Message}
	}
	return []v1.StatefulSetCondition{
		of(v1.StatefulSetAvailable, c.Available), of(v1.StatefulSetReady, c.Ready), of(v1.StatefulSetProgressing, c.Progressing),
		of(v1.StatefulSetReconciling, c.Reconciling), of(v1.StatefulSetStalled, c.Stalled),
	}
}

// Put returns the conditions of a status with these conditions. Conditions of other types do not
// change, and the transition time changes only when the status of the condition does.
func (c Conditions) Put(before []v1.StatefulSetCondition, now time.Time) []v1.StatefulSetCondition {
	after := slices.Clone(before)
	for _, next := range c.named() {
		if next.Status == "" {
			continue
		}
		next.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
		at := slices.IndexFunc(after, func(was v1.StatefulSetCondition) bool { return was.Type == next.Type })
		if at < 0 {
			after = append(after, next)
			continue
		}
		if after[at].Status == next.Status {
			next.LastTransitionTime = after[at].LastTransitionTime
		}
		after[at] = next
	}
	return after
}
