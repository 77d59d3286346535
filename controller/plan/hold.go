// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// leaveAlone stops where nothing is to be done: the set is about to go, or held.
func leaveAlone(f *facts, _ *draft) verdict {
	if f.world.Set.DeletionTimestamp != nil || f.held {
		return stop
	}
	return proceed
}

// shareNoName stops while another group's set of the same name has pods: two
// controllers that give their pods the same names would undo each other's work.
func shareNoName(f *facts, d *draft) verdict {
	owner := f.nameOwner()
	if owner == "" {
		return proceed
	}
	d.blocked(v1.ReasonNameTaken,
		"%s; while it exists, nothing is done for this set: move it with kubectl sts migrate, or delete one of the two", owner)
	return stop
}

// nameOwner tells of a pod that has the name of a member, wanted or not, and belongs
// to a set of the same name in another group; empty if there is none.
func (f *facts) nameOwner() string {
	var named string
	for _, pod := range f.world.Pods {
		controller := metav1.GetControllerOfNoCopy(pod)
		if controller == nil || controller.Kind != v1.Kind || controller.Name != f.world.Set.Name || controller.UID == f.world.Set.UID ||
			refersToSet(f.world.Set, *controller) {
			continue
		}
		if text := fmt.Sprintf("pod %s belongs to the %s StatefulSet %s", pod.Name, words.Foreign(controller.APIVersion),
			controller.Name); named == "" || text < named {
			named = text
		}
	}
	return named
}

// holdMessage says that the set is held, and how to end that.
func (f *facts) holdMessage() string {
	why, _ := v1.Held(f.world.Set)
	return fmt.Sprintf(
		"the annotation %s=%q holds the set: nothing is created, changed or deleted for it; to go on, remove it: kubectl annotate sset %s -n %s %s-",
		v1.HoldAnnotation, words.ForeignText(why), f.world.Set.Name, f.world.Set.Namespace, v1.HoldAnnotation)
}
