// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// refuseRendered refuses a set whose members were created with spec.identity: apps/v1 would use
// names of parameters as plain text and compute other revisions, so it would restart every member.
func refuseRendered(set *v1.StatefulSet, revisions []appsv1.ControllerRevision, pods []corev1.Pod) error {
	if set == nil {
		return nil
	}
	if named := identity.OverridesOf(set).FirstName(); named != "" {
		return fmt.Errorf(
			"%s: apps/v1 would use that as plain text; write a text that is right for all members, or $(...) with a variable from metadata.name or metadata.labels['%s']; remove spec.identity, and wait until the controller has recreated the members", named, appsv1.PodIndexLabel)
	}
	if set.Spec.Identity != nil {
		return fmt.Errorf(
			"members are created with spec.identity, which apps/v1 does not have: it would restart all of them; remove spec.identity, which starts an update, and wait until the controller has recreated the members")
	}
	rendered := map[string]bool{}
	for i := range revisions {
		source, err := identity.Recorded(revisions[i].Data.Raw)
		rendered[revisions[i].Name] = err == nil && source.Identity != nil
	}
	for i := range pods {
		if rendered[pods[i].Labels[identity.RevisionLabel]] && metav1.IsControlledBy(&pods[i], set) {
			return fmt.Errorf("pod %s was created with an earlier spec.identity; wait until the controller has recreated it, or delete it", pods[i].Name)
		}
	}
	return nil
}
