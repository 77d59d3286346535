// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

func rangesText(ranges []v1.OrdinalRange) string {
	var parts []string
	for _, r := range ranges {
		if r.Last == nil {
			parts = append(parts, fmt.Sprint(r.First))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", r.First, *r.Last))
		}
	}
	return cmp.Or(strings.Join(parts, ","), "none")
}

// countsOf tells how far the claims of a template are, without what is not so of any.
func countsOf(c v1.VolumeClaimStatus) string {
	text := fmt.Sprintf("%s: %d, %d up to date", c.Name, c.Claims, c.UpToDate)
	for _, count := range []struct {
		n    int32
		what string
	}{{c.Growing, "growing"}, {c.RestartRequired, "awaiting their nodes"}, {c.Infeasible, "infeasible"}, {c.Differing, "differing"}} {
		if count.n > 0 {
			text += fmt.Sprintf(", %d %s", count.n, count.what)
		}
	}
	if c.Message != "" {
		text += "; " + c.Message
	}
	return text
}

// tells reports whether a condition says more than those before it: Ready always
// does, another when it is not as expected or gives another reason.
func tells(all []v1.StatefulSetCondition, c v1.StatefulSetCondition) bool {
	ready := all[slices.IndexFunc(all, func(c v1.StatefulSetCondition) bool { return c.Type == v1.StatefulSetReady })]
	switch c.Type {
	case v1.StatefulSetReconciling:
		return false
	case v1.StatefulSetAvailable:
		return c.Status != corev1.ConditionTrue
	case v1.StatefulSetStalled:
		return c.Status == corev1.ConditionTrue
	case v1.StatefulSetProgressing:
		return c.Reason != ready.Reason
	default:
		return true
	}
}

func (s *stage) show() {
	for _, pod := range slices.SortedFunc(maps.Values(s.pods), byName) {
		fmt.Fprintf(&s.log, "  pod %s at %s owned by %s%s\n", pod.Name, pod.Labels[identity.RevisionLabel], owners(pod),
			s.otherService(pod)+asOverridden(pod)+parametersOf(pod))
	}
	for _, claim := range slices.SortedFunc(maps.Values(s.claims), byName) {
		fmt.Fprintf(&s.log, "  claim %s owned by %s\n", claim.Name, owners(claim))
	}
	for _, name := range s.objectNames() {
		object := s.objects[keyOf(name)]
		dated := ""
		if since, is := object.Annotations[retiredNote]; is {
			dated = " retired at " + since
		}
		fmt.Fprintf(&s.log, "  object %s of %q with %v%s%s\n", name, object.Annotations[ownerNote], object.Labels, dated, anchorText(object))
	}
	for _, r := range sortRevisions(slices.Collect(maps.Values(s.revisions))) {
		s.name(r.Name)
		fmt.Fprintf(&s.log, "  revision %d %s\n", r.Revision, r.Name)
	}
}

// asOverridden tells in what a pod is otherwise than its template.
func asOverridden(pod *corev1.Pod) string {
	if shape := shapeOf(pod); shape != plainShape {
		return " as " + shape
	}
	return ""
}

// otherService tells of a pod that has not the service of the set.
func (s *stage) otherService(pod *corev1.Pod) string {
	if pod.Spec.Subdomain == s.set.Spec.ServiceName {
		return ""
	}
	return " in service " + pod.Spec.Subdomain
}
