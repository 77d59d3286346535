// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// builtin is the set of the same name in apps/v1 that a set is moved from.
func builtin(name string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: name, UID: "builtin", Controller: new(true)}}
}

// move carries out the commands about a set that comes from another group, and
// reports false if it knows no such command.
//
// "arrive" gives all that the set has to a set of the same name in apps/v1, and puts a
// new set in its place; "copystatus" writes into its status the revisions of the
// old one; "letgo pods" (and claims; or revisions) is what the garbage collector does after an
// orphaning deletion; "twin rev2" records a revision again, under another name;
// "rename rev2" does so, and has pods carry that name, as after a collision.
func (s *stage) move(name string, args []string) bool {
	switch name {
	case "arrive":
		s.arrive()
	case "copystatus":
		s.set.Status.CurrentRevision, s.set.Status.UpdateRevision, s.set.Status.CollisionCount = s.left.CurrentRevision, s.left.UpdateRevision,
			s.left.CollisionCount
	case "letgo":
		s.letGo(args[0])
	case "twin":
		s.twin(s.revisionCalled(args[0]))
	case "rename":
		s.rename(s.revisionCalled(args[0]))
	default:
		return false
	}
	return true
}

func (s *stage) arrive() {
	s.left = s.set.Status
	s.replaceSet()
	for _, pod := range slices.Collect(maps.Values(s.pods)) {
		replace(s.host, s.pods, pod, func(pod *corev1.Pod) { pod.OwnerReferences = builtin(s.set.Name) })
	}
	for _, revision := range slices.Collect(maps.Values(s.revisions)) {
		if isAnchor(revision) {
			continue
		}
		replace(s.host, s.revisions, revision, func(revision *appsv1.ControllerRevision) { revision.OwnerReferences = builtin(s.set.Name) })
	}
	for _, claim := range slices.Collect(maps.Values(s.claims)) {
		if len(claim.OwnerReferences) > 0 {
			replace(s.host, s.claims, claim, func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = builtin(s.set.Name) })
		}
	}
}

func (s *stage) twin(name string) *appsv1.ControllerRevision {
	twin := s.revisions[name].DeepCopy()
	twin.Name, twin.UID = name+"z", "twin"
	s.revisions[twin.Name] = twin
	return twin
}

func (s *stage) rename(name string) {
	twin := s.twin(name)
	delete(s.revisions, name)
	for _, pod := range slices.Collect(maps.Values(s.pods)) {
		if pod.Labels[identity.RevisionLabel] == name {
			replace(s.host, s.pods, pod, func(pod *corev1.Pod) { pod.Labels[identity.RevisionLabel] = twin.Name })
		}
	}
}

func (s *stage) letGo(what string) {
	switch what {
	case "pods":
		for _, pod := range slices.Collect(maps.Values(s.pods)) {
			replace(s.host, s.pods, pod, func(pod *corev1.Pod) { pod.OwnerReferences = nil })
		}
		for _, claim := range slices.Collect(maps.Values(s.claims)) {
			replace(s.host, s.claims, claim, func(claim *corev1.PersistentVolumeClaim) { claim.OwnerReferences = nil })
		}
	case "revisions":
		for _, revision := range slices.Collect(maps.Values(s.revisions)) {
			replace(s.host, s.revisions, revision, func(revision *appsv1.ControllerRevision) { revision.OwnerReferences = nil })
		}
	default:
		s.t.Fatalf("letgo of %q: want pods or revisions", what)
	}
}

// revisionCalled is the name of the revision that the story calls rev1, rev2...
func (s *stage) revisionCalled(called string) string {
	n := s.number(strings.TrimPrefix(called, "rev"))
	return s.seen[n-1]
}

// reasonToHold is what "hold" says when the script does not.
const reasonToHold = "migration"

// hold sets the annotation.
func (s *stage) hold(args []string) {
	why := reasonToHold
	if len(args) > 0 {
		why = strings.Join(args, " ")
	}
	s.set.Annotations = map[string]string{v1.HoldAnnotation: why}
}
