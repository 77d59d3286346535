//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// recent is how many of the last records a run is told with that did not converge.
const recent = 80

// lately tells what happened last, one line a record, and what the set says of itself.
func (r *run) lately() string {
	var b strings.Builder
	b.WriteString("\nwhat happened last:")
	all := r.all()
	var latest *v1.StatefulSet
	for _, record := range all {
		if set, is := record.object.(*v1.StatefulSet); is {
			latest = set
		}
	}
	for _, record := range all[max(0, len(all)-recent):] {
		fmt.Fprintf(&b, "\n  %s %s %s %s at %d", record.at.Format("04:05.000"), record.verb, record.kind, record.object.GetName(), record.version)
		switch object := record.object.(type) {
		case *corev1.Pod:
			fmt.Fprintf(&b, ", %s, %s, generation %d, %s, ready %t, notes %v", object.Labels[appsv1.ControllerRevisionHashLabelKey],
				imageOf(&object.Spec), object.Generation, object.Status.Phase, isReady(object), object.Annotations)
		case *v1.StatefulSet:
			fmt.Fprintf(&b, ", generation %d of %d, from %s to %s", object.Status.ObservedGeneration, object.Generation,
				object.Status.CurrentRevision, object.Status.UpdateRevision)
		}
	}
	if latest != nil {
		for _, c := range latest.Status.Conditions {
			fmt.Fprintf(&b, "\n  %s %s since %s, %s: %s", c.Type, c.Status, c.LastTransitionTime.UTC().Format("04:05"), c.Reason, c.Message)
		}
	}
	return b.String()
}
