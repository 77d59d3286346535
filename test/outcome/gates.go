// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// gates is the oracle for gates: a pod that was ready when its gates were asked is neither removed
// nor restarted before they have answered (docs/disruption.md).
type gates struct {
	// asked are the pods that were ready when their gates were asked.
	asked map[types.UID]opened
	// agreedTo are the versions to which pods are updated in place because their gates have agreed.
	agreedTo map[types.UID]string
}

// opened is a request to the gates, with the generation and the gates of the set at its time.
type opened struct {
	question
	generation int64
	gates      []v1.DisruptionGate
}

// question is the annotation of a pod whose gates are asked.
type question struct {
	ID        int64
	Operation v1.DisruptionOperationType
}

func newGates() *gates {
	return &gates{asked: map[types.UID]opened{}, agreedTo: map[types.UID]string{}}
}

func (*gates) name() string { return "gate" }

func (o *gates) changed(j *Judge, before, after *Scene, by Actor) {
	if before == nil || before.Set == nil || after.Set == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(before.Pods)) {
		was, now := before.Pods[name], after.Pods[name]
		asked, open := askedOf(was)
		if known, is := o.asked[was.UID]; !open || !is || known.ID != asked.ID {
			continue
		}
		if by == Controller && was.DeletionTimestamp == nil && works(after.Set) {
			o.judge(j, after, asked, was, now)
		}
	}
	o.remember(after)
}

// remember records the requests to the gates of ready pods, and forgets updates that are over.
func (o *gates) remember(after *Scene) {
	for _, pod := range after.Pods {
		if _, underWay := pod.Annotations[v1.InPlaceAnnotation]; !underWay {
			delete(o.agreedTo, pod.UID)
		}
		if asked, open := askedOf(pod); open && isReady(pod) && o.asked[pod.UID].ID != asked.ID {
			o.asked[pod.UID] = opened{asked, after.Set.Generation, gatesOf(after.Set)}
		}
	}
}

func gatesOf(set *v1.StatefulSet) []v1.DisruptionGate {
	if set.Spec.Disruption == nil {
		return nil
	}
	return set.Spec.Disruption.Gates
}

// judge judges what the controller has done to a pod whose gates are asked. Each condition is one
// reason to report nothing.
func (o *gates) judge(j *Judge, after *Scene, asked question, was, now *corev1.Pod) { //nolint:gocyclo // see above
	gone := now == nil || now.UID != was.UID || now.DeletionTimestamp != nil
	restarted := !gone && !reflect.DeepEqual(was.Spec.Containers, now.Spec.Containers)
	if !gone && !restarted || hasEnded(was) {
		return
	}
	if o.agreed(after, asked, was) {
		if restarted {
			o.agreedTo[was.UID] = version(&now.Spec)
		}
		return
	}
	if to, underWay := o.agreedTo[was.UID]; underWay && restarted && to == version(&now.Spec) {
		return // the rest of an update to which the gates have agreed
	}
	n, is := ordinal(after.Set, was.Name)
	if !is || isDesired(after.Set, n) == (asked.Operation == v1.ScaleDownDisruptionOperationType) ||
		!reflect.DeepEqual(o.asked[was.UID].gates, gatesOf(after.Set)) {
		return // the operation differs from the request, or other gates must agree
	}
	if o.brokeUnasked(after.Set, asked, was) {
		return
	}
	replaced := isToBeReplaced(after.Set, was)
	outdated := version(&was.Spec) != version(&after.Set.Spec.Template.Spec)
	if asked.Operation == v1.UpdateDisruptionOperationType && replaced || asked.Operation == v1.ReplaceDisruptionOperationType && outdated {
		return // there is another reason
	}
	if replaced && !o.concern(after.Set, v1.ReplaceDisruptionOperationType) {
		return // a user has requested an operation to which no gate applies
	}
	if rolling := rollingOf(after.Set); rolling != nil && rolling.ReplaceUnreadyAfterSeconds != nil {
		return // the gates of a pod that blocks an update are not asked
	}
	what := "removed"
	if restarted {
		what = "restarted"
	}
	unready := "ready"
	if !isReady(was) {
		unready = "no longer ready"
	}
	j.broken(o, "%s without an answer although %s: pod %s, whose gates are asked about %s (request %d)", what, unready, was.Name, asked.Operation,
		asked.ID)
}

// brokeUnasked reports whether a request about an update was withdrawn, after a change of the set,
// for a pod that is not ready: the pod is updated without a request, like each pod that is broken
// before its gates are asked.
func (o *gates) brokeUnasked(set *v1.StatefulSet, asked question, pod *corev1.Pod) bool {
	withdrawn := !slices.ContainsFunc(gatesOf(set), func(gate v1.DisruptionGate) bool {
		return gate.ConcernedBy(asked.Operation) && !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return string(c.Type) == gate.ConditionType && c.Status == corev1.ConditionTrue && c.Reason == v1.ReasonGateNotRequested
		})
	})
	return asked.Operation == v1.UpdateDisruptionOperationType && !isReady(pod) && withdrawn && set.Generation != o.asked[pod.UID].generation
}

// isToBeReplaced reports whether a user has requested the replacement of a pod.
func isToBeReplaced(set *v1.StatefulSet, pod *corev1.Pod) bool {
	return slices.ContainsFunc(set.Status.Replacements, func(r v1.MemberReplacement) bool { return r.PodUID == pod.UID })
}

// concern reports whether a gate of a set applies to an operation.
func (*gates) concern(set *v1.StatefulSet, operation v1.DisruptionOperationType) bool {
	return slices.ContainsFunc(gatesOf(set), func(gate v1.DisruptionGate) bool { return gate.ConcernedBy(operation) })
}

// agreed reports whether all gates have agreed, or need not be waited for any longer.
func (o *gates) agreed(now *Scene, asked question, pod *corev1.Pod) bool {
	gates := gatesOf(now.Set)
	for i := range gates {
		gate := &gates[i]
		if !gate.ConcernedBy(asked.Operation) {
			continue
		}
		if gate.TimeoutSeconds != nil {
			continue // the controller measures the time, and its clock may differ
		}
		if !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return string(c.Type) == gate.ConditionType && c.Status == corev1.ConditionTrue &&
				c.Reason == fmt.Sprint(v1.DisruptionAnswerPrefix, asked.ID)
		}) {
			return false
		}
	}
	return true
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// askedOf returns the request to the gates of a pod, and whether there is one.
func askedOf(pod *corev1.Pod) (asked question, open bool) {
	text, open := pod.Annotations[v1.DisruptionAnnotation]
	if !open || json.Unmarshal([]byte(text), &asked) != nil {
		return asked, false
	}
	return asked, true
}
