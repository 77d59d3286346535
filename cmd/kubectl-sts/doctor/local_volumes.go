// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// mostLocal bounds how many claims of a set are looked at, each of which takes a request.
const mostLocal = 50

// heldByNodes tells of members that do not serve because a volume of theirs is on a node that is not
// Ready, or is gone. The controller may read neither volumes nor nodes; whoever asks may.
func (e *examiner) heldByNodes(ctx context.Context, sets []v1.StatefulSet, claims []corev1.PersistentVolumeClaim) (found []finding) {
	byName := make(map[string]*corev1.PersistentVolumeClaim, len(claims))
	for i := range claims {
		byName[claims[i].Namespace+"/"+claims[i].Name] = &claims[i]
	}
	nodes := nodeStates{}
	for i := range sets {
		set := &sets[i]
		if len(set.Spec.VolumeClaimTemplates) == 0 || conditionOf(set, v1.StatefulSetReady).Status == corev1.ConditionTrue {
			continue
		}
		held, err := e.heldOf(ctx, set, byName, nodes)
		found = append(found, held...)
		if err != nil {
			found = append(found, isUnknown(fmt.Sprintf("volumes of set %s/%s", set.Namespace, set.Name), err))
		}
	}
	return found
}

// heldOf tells of the members of one set.
func (e *examiner) heldOf(ctx context.Context, set *v1.StatefulSet, claims map[string]*corev1.PersistentVolumeClaim,
	nodes nodeStates) (found []finding, err error) {
	pods, err := e.host.CoreV1().Pods(set.Namespace).List(ctx,
		metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(set.Spec.Selector)})
	if err != nil {
		return nil, err
	}
	stuck := stuckClaims(set, pods.Items, claims)
	for _, s := range stuck[:min(len(stuck), mostLocal)] {
		volume, err := e.host.CoreV1().PersistentVolumes().Get(ctx, s.claim.Spec.VolumeName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue // the claim is about to be Lost, which is told elsewhere
		}
		if err != nil {
			return found, err
		}
		on := placeOf(volume)
		if why, err := e.whyLost(ctx, on, nodes); err != nil {
			return found, err
		} else if why != "" {
			found = append(found, s.isHeld(on, why))
		}
	}
	return found, nil
}

// stuckClaim is the bound claim of a member whose pod is not ready.
type stuckClaim struct {
	claim *corev1.PersistentVolumeClaim
	pod   *corev1.Pod
}

func stuckClaims(set *v1.StatefulSet, pods []corev1.Pod, claims map[string]*corev1.PersistentVolumeClaim) (stuck []stuckClaim) {
	for i := range pods {
		pod := &pods[i]
		of, ordinal, ok := identity.ParsePodName(pod.Name)
		if !ok || of != set.Name || !identity.OrdinalsOf(set).Contains(ordinal) || identity.IsReady(pod) {
			continue
		}
		for _, template := range set.Spec.VolumeClaimTemplates {
			claim := claims[set.Namespace+"/"+identity.ClaimName(template.Name, set.Name, ordinal)]
			if claim != nil && claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil {
				stuck = append(stuck, stuckClaim{claim, pod})
			}
		}
	}
	return stuck
}

// isHeld says where the claim is, and how the member gets another one. Only of a pod that is on a node
// has that to be said to be lost.
func (s stuckClaim) isHeld(on place, why string) finding {
	replace := fmt.Sprintf("kubectl sts -n %s replace %s --new-claims", s.claim.Namespace, s.pod.Name)
	if node := s.pod.Spec.NodeName; node != "" {
		replace += " --lost-node=" + node
	}
	return isDoubtful(
		fmt.Sprintf("claim %s/%s", s.claim.Namespace, s.claim.Name),
		fmt.Sprintf("is on %s, %s; member %s waits for that node; to give its data up:", on.node, why, s.pod.Name),
		replace+"  # the member comes back with new, empty claims",
	)
}

// place is the one node that a volume can be used on.
type place struct {
	node string
	// label is the one by which the volume names the node, empty if it does by the node's own name.
	label string
}

// placeOf is where a volume can be used, the zero place if that is not on one node only.
func placeOf(volume *corev1.PersistentVolume) (on place) {
	if volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
		return place{}
	}
	for i, term := range volume.Spec.NodeAffinity.Required.NodeSelectorTerms {
		only := onlyNode(term)
		if only.node == "" || i > 0 && only != on {
			return place{}
		}
		on = only
	}
	return on
}

func onlyNode(term corev1.NodeSelectorTerm) place {
	named := func(all []corev1.NodeSelectorRequirement, key string) string {
		for _, r := range all {
			if r.Key == key && r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
				return r.Values[0]
			}
		}
		return ""
	}
	if name := named(term.MatchFields, metav1.ObjectNameField); name != "" {
		return place{node: name}
	}
	return place{named(term.MatchExpressions, corev1.LabelHostname), corev1.LabelHostname}
}

// nodeStates are why nodes are lost, empty of those that are Ready, as far as somebody has asked.
type nodeStates map[place]string

// whyLost says why nothing can be used that is at a place, empty if the node is Ready.
func (e *examiner) whyLost(ctx context.Context, at place, known nodeStates) (string, error) {
	if why, is := known[at]; is || at.node == "" {
		return why, nil
	}
	nodes, err := e.nodesAt(ctx, at)
	if err != nil {
		return "", err
	}
	known[at] = "which does not exist any more"
	for i := range nodes {
		if known[at] = whyNotReady(&nodes[i]); known[at] == "" {
			break
		}
	}
	return known[at], nil
}

// nodesAt is the node of a place, none if it does not exist.
func (e *examiner) nodesAt(ctx context.Context, at place) ([]corev1.Node, error) {
	if at.label != "" {
		nodes, err := e.host.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: labels.Set{at.label: at.node}.String()})
		if err != nil {
			return nil, err
		}
		return nodes.Items, nil
	}
	node, err := e.host.CoreV1().Nodes().Get(ctx, at.node, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []corev1.Node{*node}, nil
}

func whyNotReady(node *corev1.Node) string {
	for _, c := range node.Status.Conditions {
		switch {
		case c.Type != corev1.NodeReady:
		case c.Status == corev1.ConditionTrue:
			return ""
		default:
			return "NotReady since " + c.LastTransitionTime.UTC().Format(time.RFC3339)
		}
	}
	return "NotReady"
}
