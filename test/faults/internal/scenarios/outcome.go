// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Outcome returns a text of everything that must be the same at the end of every run of a scenario,
// with or without faults: members, claims, revisions, owners, and the status of the set. It omits
// names and numbers that differ between runs, such as UIDs, resource versions, times, and the
// numbers of revisions.
func Outcome(o Observed) string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i := range o.Pods {
		pod := &o.Pods[i]
		say("pod %s: image %s, phase %s, ready %t, terminating %t, labels %v, owners %v", pod.Name, pod.Spec.Containers[0].Image,
			pod.Status.Phase, isReady(pod), pod.DeletionTimestamp != nil, words(pod.Labels), o.owners(pod.OwnerReferences))
	}
	for i := range o.Claims {
		claim := &o.Claims[i]
		say("claim %s: terminating %t, labels %v, owners %v", claim.Name, claim.DeletionTimestamp != nil, words(claim.Labels),
			o.owners(claim.OwnerReferences))
	}
	for i := range o.Revisions {
		revision := &o.Revisions[i]
		if isAnchor(revision) { // its name contains the set's UID
			say("an anchor with owners %v", o.owners(revision.OwnerReferences))
			continue
		}
		say("revision %s: image %s, owners %v", revision.Name, imageOf(revision), o.owners(revision.OwnerReferences))
	}
	lines = append(lines, o.objectLines()...)
	lines = append(lines, o.secretLines()...)
	slices.Sort(lines)
	if set := o.Set; set != nil {
		status := set.Status
		say("set: terminating %t, up to date %t, replicas %d, ready %d, available %d, current %d of %s, updated %d of %s",
			set.DeletionTimestamp != nil, status.ObservedGeneration == set.Generation, status.Replicas, status.ReadyReplicas,
			status.AvailableReplicas, status.CurrentReplicas, status.CurrentRevision, status.UpdatedReplicas, status.UpdateRevision)
	}
	return strings.Join(lines, "\n")
}

// owners describes the owners of an object by their relation to the existing objects.
func (o Observed) owners(references []metav1.OwnerReference) []string {
	var texts []string
	for _, owner := range references {
		text := owner.Kind + " " + owner.Name
		if owner.Controller != nil && *owner.Controller {
			text += ", which controls it"
		}
		if owner.Kind == "StatefulSet" && (o.Set == nil || owner.UID != o.Set.UID) {
			text += ", which does not exist"
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts
}

func words(labels map[string]string) []string {
	var texts []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		texts = append(texts, key+"="+labels[key])
	}
	return texts
}

// imageOf returns the image that a revision has recorded.
func imageOf(revision *appsv1.ControllerRevision) string {
	var recorded struct {
		Spec appsv1.StatefulSetSpec `json:"spec"`
	}
	if err := json.Unmarshal(revision.Data.Raw, &recorded); err != nil || len(recorded.Spec.Template.Spec.Containers) == 0 {
		return "unknown"
	}
	return recorded.Spec.Template.Spec.Containers[0].Image
}
