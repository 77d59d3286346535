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

// refuseRendered refuses a set whose members were made with spec.identity: apps/v1 would take
// names of parameters for text, and its revisions for others, and restart every member.
func refuseRendered(set *v1.StatefulSet, revisions []appsv1.ControllerRevision, pods []corev1.Pod) error {
	if set == nil {
		return nil
	}
	if named := identity.OverridesOf(set).FirstName(); named != "" {
		return fmt.Errorf(
			"%s: apps/v1 would take that for text; write a text that is right for all members, or a variable from metadata.name or metadata.labels['%s'], which $(...) names; remove spec.identity, and wait until the set has recreated its members", named, appsv1.PodIndexLabel)
	}
	if set.Spec.Identity != nil {
		return fmt.Errorf(
			"members are made with spec.identity, which apps/v1 does not have: it would restart all of them; remove it, which is an update, and wait until the set has recreated them")
	}
	rendered := map[string]bool{}
	for i := range revisions {
		source, err := identity.Recorded(revisions[i].Data.Raw)
		rendered[revisions[i].Name] = err == nil && source.Identity != nil
	}
	for i := range pods {
		if rendered[pods[i].Labels[identity.RevisionLabel]] && metav1.IsControlledBy(&pods[i], set) {
			return fmt.Errorf("%s was made with an earlier spec.identity; wait until the set has recreated it, or delete it", pods[i].Name)
		}
	}
	return nil
}
