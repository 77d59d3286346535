// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan/action"
)

// belonging says how a pod relates to the set.
type belonging int

const (
	isForeign belonging = iota // it has another controller, or it has none and the set must not adopt it
	isOurs                     // the set controls it, and its name and labels fit
	isOrphan                   // it has no controller, and its name and labels fit
	isLost                     // the set controls it, but its name or labels do not fit any more
)

// belongs says how the pod relates to the set; fits is true if its name and labels are those of a
// member.
func (f *facts) belongs(pod *corev1.Pod, fits bool) belonging {
	controller := metav1.GetControllerOfNoCopy(pod)
	switch {
	case controller != nil && controller.UID != f.world.Set.UID:
		return isForeign
	case controller != nil && fits:
		return isOurs
	case controller != nil:
		return isLost
	case fits && !isTerminating(pod) && f.world.Set.DeletionTimestamp == nil:
		return isOrphan
	default:
		return isForeign
	}
}

// keepMembership plans the adoptions and releases that sortMembers found. An adoption creates a
// new version of the pod, and until the cache shows it, nothing else can be decided about the pod.
func keepMembership(f *facts, d *draft) verdict {
	for _, m := range f.adopt {
		d.add(action.AdoptPod{Ordinal: m.ordinal, Pod: action.Exact(m.pod)})
	}
	for _, pod := range f.release {
		d.add(action.ReleasePod{Pod: pod})
	}
	if len(f.adopt) > 0 {
		return stop
	}
	return proceed
}
