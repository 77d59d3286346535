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

// mostLocal limits how many claims of a set are checked, because each of them takes a request.
const mostLocal = 50

// blockedByNodes reports members that do not serve because one of their volumes is on a node that
// is not Ready or does not exist. The controller cannot report this, because it has no right to
// read volumes and nodes. The user of doctor may have it.
func (e *examiner) blockedByNodes(ctx context.Context, sets []v1.StatefulSet, claims []corev1.PersistentVolumeClaim) (found []finding) {
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
		held, err := e.blockedMembers(ctx, set, byName, nodes)
		found = append(found, held...)
		if err != nil {
			found = append(found, skipFinding(fmt.Sprintf("volumes of set %s/%s", set.Namespace, set.Name), err))
		}
	}
	return found
}

// blockedMembers reports such members of one set.
func (e *examiner) blockedMembers(ctx context.Context, set *v1.StatefulSet, claims map[string]*corev1.PersistentVolumeClaim,
	nodes nodeStates) (found []finding, err error) {
	pods, err := e.host.CoreV1().Pods(set.Namespace).List(ctx,
		metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(set.Spec.Selector)})
	if err != nil {
		return nil, err
	}
	stuck := blockedClaims(set, pods.Items, claims)
	for _, s := range stuck[:min(len(stuck), mostLocal)] {
		volume, err := e.host.CoreV1().PersistentVolumes().Get(ctx, s.claim.Spec.VolumeName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue // the claim is about to be Lost, which lostVolumes reports
		}
		if err != nil {
			return found, err
		}
		on := placeOf(volume)
		if why, err := e.whyLost(ctx, on, nodes); err != nil {
			return found, err
		} else if why != "" {
			found = append(found, s.finding(on, why))
		}
	}
	return found, nil
}

// blockedClaim is the bound claim of a member whose pod is not ready.
type blockedClaim struct {
	claim *corev1.PersistentVolumeClaim
	pod   *corev1.Pod
}

func blockedClaims(set *v1.StatefulSet, pods []corev1.Pod, claims map[string]*corev1.PersistentVolumeClaim) (stuck []blockedClaim) {
	for i := range pods {
		pod := &pods[i]
		of, ordinal, ok := identity.ParsePodName(pod.Name)
		if !ok || of != set.Name || !identity.OrdinalsOf(set).Contains(ordinal) || identity.IsReady(pod) {
			continue
		}
		for _, template := range set.Spec.VolumeClaimTemplates {
			claim := claims[set.Namespace+"/"+identity.ClaimName(template.Name, set.Name, ordinal)]
			if claim != nil && claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil {
				stuck = append(stuck, blockedClaim{claim, pod})
			}
		}
	}
	return stuck
}

// finding reports the node of the claim, and the command with which the member gets a new one. The
// command names the lost node only if the pod is on a node.
func (s blockedClaim) finding(on place, why string) finding {
	replace := fmt.Sprintf("kubectl sts -n %s replace %s --new-claims", s.claim.Namespace, s.pod.Name)
	if node := s.pod.Spec.NodeName; node != "" {
		replace += " --lost-node=" + node
	}
	return warnFinding(
		fmt.Sprintf("claim %s/%s", s.claim.Namespace, s.claim.Name),
		fmt.Sprintf("is on %s, %s; member %s waits for that node; to give up its data:", on.node, why, s.pod.Name),
		replace+"  # the member comes back with new, empty claims",
	)
}

// place is the one node on which a volume can be used.
type place struct {
	node string
	// label is the label with which the volume selects the node, empty if it selects the node by name.
	label string
}

// placeOf returns where a volume can be used, the zero place if it is not bound to one node.
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

// nodeStates caches why nodes are lost. The text of a node that is Ready is empty.
type nodeStates map[place]string

// whyLost returns why volumes at a place cannot be used, empty if the node is Ready.
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

// nodesAt returns the nodes of a place, none if no such node exists.
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
