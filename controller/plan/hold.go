// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
)

// requireActive stops if the set is not active: it is being deleted, or it is suspended.
func requireActive(f *facts, _ *draft) verdict {
	if f.world.Set.DeletionTimestamp != nil || f.suspended {
		return stop
	}
	return proceed
}

// requireUniqueName stops while a set of the same name in another group has pods: two controllers
// that give their pods the same names would undo each other's work.
func requireUniqueName(f *facts, d *draft) verdict {
	owner := f.nameOwner()
	if owner == "" {
		return proceed
	}
	d.stall(v1.ReasonNameTaken,
		"%s; until that changes, the controller does nothing for this set: move the other set with kubectl sts migrate, or delete one of the two", owner)
	return stop
}

// nameOwner describes a pod that has the name of a member, desired or not, and belongs to a set of
// the same name in another group; empty if there is none.
func (f *facts) nameOwner() string {
	var named string
	for _, pod := range f.world.Pods {
		controller := metav1.GetControllerOfNoCopy(pod)
		if controller == nil || controller.Kind != v1.Kind || controller.Name != f.world.Set.Name || controller.UID == f.world.Set.UID ||
			refersToSet(f.world.Set, *controller) {
			continue
		}
		if text := fmt.Sprintf("pod %s belongs to the %s StatefulSet %s", pod.Name, words.Sanitize(controller.APIVersion),
			controller.Name); named == "" || text < named {
			named = text
		}
	}
	return named
}

// suspendedMessage says that the set is suspended, and how to resume it.
func (f *facts) suspendedMessage() string {
	why, _ := v1.Held(f.world.Set)
	return fmt.Sprintf(
		"the annotation %s=%q suspends the set: the controller creates, changes and deletes nothing for it; to resume, remove the annotation: kubectl annotate sset %s -n %s %s-",
		v1.HoldAnnotation, words.SanitizeText(why), f.world.Set.Name, f.world.Set.Namespace, v1.HoldAnnotation)
}
