// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
)

// request is what the gates are asked about a pod. It is an annotation of the pod, and an
// answer names its ID.
type request struct {
	ID        int64                      `json:"id"`
	Operation v1.DisruptionOperationType `json:"operation"`
	// Revision is the revision at which the member returns, empty if it does not return.
	Revision string      `json:"revision,omitempty"`
	Since    metav1.Time `json:"since"`
	// Broken is true if the pod was already not ready before, for a reason of its own. Later it
	// would not be known whether the request is the cause.
	Broken bool `json:"broken,omitempty"`
}

// isRequested reports whether the gates are asked about a pod.
func isRequested(pod *corev1.Pod) bool {
	_, open := pod.Annotations[v1.DisruptionAnnotation]
	return open
}

// requestOf is the request to the gates about a pod. An annotation that cannot be read is a request
// for nothing, so that another one follows.
func requestOf(pod *corev1.Pod) (asked request, open bool) {
	text, open := pod.Annotations[v1.DisruptionAnnotation]
	if err := json.Unmarshal([]byte(text), &asked); err != nil {
		asked = request{}
	}
	return asked, open
}

// answer is the reason of a condition that agrees.
func (r request) answer() string { return v1.DisruptionAnswerPrefix + strconv.FormatInt(r.ID, 10) }

// GateAnswer is the reason of a condition by which a gate agrees to the request about a pod, and
// false if there is no request.
func GateAnswer(pod *corev1.Pod) (reason string, asked bool) {
	r, asked := requestOf(pod)
	return r.answer(), asked
}

// isFor reports whether two requests ask for the same.
func (r request) isFor(other request) bool {
	return r.Operation == other.Operation && r.Revision == other.Revision
}

// desiredRequest says why a pod is to be removed, and at which revision its member returns. It has
// no operation if the pod stays, or if no one has to be asked.
func (f *facts) desiredRequest(m member) request {
	switch {
	case m.pod == nil || isTerminating(m.pod) || isFinished(m.pod):
		return request{}
	case !f.roster.Contains(m.ordinal):
		return request{Operation: v1.ScaleDownDisruptionOperationType}
	}
	if goal, how := f.target(m); how == recreate {
		return request{Operation: v1.UpdateDisruptionOperationType, Revision: goal.name}
	}
	if f.isReplacementRequested(m) {
		return request{Operation: v1.ReplaceDisruptionOperationType, Revision: f.targetRevision(m).name}
	}
	return request{}
}

// gatesFor are the gates that are asked before an operation.
func (f *facts) gatesFor(operation v1.DisruptionOperationType) (gates []*v1.DisruptionGate) {
	if f.world.Set.Spec.Disruption == nil || operation == "" {
		return nil
	}
	for i := range f.world.Set.Spec.Disruption.Gates {
		if gate := &f.world.Set.Spec.Disruption.Gates[i]; gate.ConcernedBy(operation) {
			gates = append(gates, gate)
		}
	}
	return gates
}

// gated is why a pod is to be removed, and the gates that have to agree first. A pod that was
// broken before a gate was asked is updated without asking: the update may be what fixes it.
func (f *facts) gated(m member) (wanted request, gates []*v1.DisruptionGate) {
	wanted = f.desiredRequest(m)
	if wanted.Operation == v1.UpdateDisruptionOperationType && isBroken(m.pod) {
		return wanted, nil
	}
	return wanted, f.gatesFor(wanted.Operation)
}

// gateStatus is the state of the gates that are asked about a pod.
type gateStatus struct {
	// unasked are the types of the gates that have yet to be asked, awaited are those of the gates
	// that have yet to agree.
	unasked, awaited []string
	// until is when the first of these gates times out, zero for never.
	until time.Time
}

// gateStatusOf determines the state of the gates for a request that a pod has.
func (f *facts) gateStatusOf(pod *corev1.Pod, gates []*v1.DisruptionGate, asked request) (s gateStatus) {
	for _, gate := range gates {
		c := conditionOf(pod, corev1.PodConditionType(gate.ConditionType))
		switch {
		case c != nil && c.Status == corev1.ConditionTrue && c.Reason == asked.answer():
		case c == nil || c.Status != corev1.ConditionFalse:
			s.unasked = append(s.unasked, gate.ConditionType)
		case gate.TimeoutSeconds == nil:
			s.awaited = append(s.awaited, gate.ConditionType)
		default:
			// The gate was asked at the later of the two times.
			end := latest(asked.Since.Time, c.LastTransitionTime.Time).Add(v1.Seconds(*gate.TimeoutSeconds))
			if !f.world.Now.Before(end) {
				continue
			}
			s.awaited = append(s.awaited, gate.ConditionType)
			if s.until.IsZero() || end.Before(s.until) {
				s.until = end
			}
		}
	}
	return s
}

// agreed reports whether all gates of a member agree to the removal of its pod.
func (f *facts) agreed(m member) bool {
	wanted, gates := f.gated(m)
	if len(gates) == 0 {
		return true
	}
	asked, _ := requestOf(m.pod)
	s := f.gateStatusOf(m.pod, gates, asked)
	return asked.isFor(wanted) && len(s.unasked)+len(s.awaited) == 0
}

// askGates asks the gates of a member, and reports whether all agree to the removal of its pod. If
// they do not, first lists the actions to do before. The request is written first, and only a sync
// that reads it sets the conditions.
func askGates(f *facts, d *draft, m member) (first []action.Action, agree bool) {
	wanted, gates := f.gated(m)
	if len(gates) == 0 {
		return nil, true
	}
	asked, open := requestOf(m.pod)
	if !open || !asked.isFor(wanted) {
		next := wanted
		next.ID, next.Since, next.Broken = f.nextID(m.pod), metav1.NewTime(f.world.Now.Truncate(time.Second)), isBroken(m.pod)
		f.reportAwaitedGates(d, m, next, typesOf(gates), time.Time{})
		return []action.Action{ask(m, next)}, false
	}
	s := f.gateStatusOf(m.pod, gates, asked)
	switch {
	case len(s.unasked) > 0:
		f.reportAwaitedGates(d, m, asked, append(s.unasked, s.awaited...), time.Time{})
		return []action.Action{f.setGates(m, s.unasked, corev1.ConditionFalse, v1.ReasonGateRequested)}, false
	case len(s.awaited) > 0:
		f.reportAwaitedGates(d, m, asked, s.awaited, s.until)
		return nil, false
	default:
		return nil, true
	}
}

// nextID is a number that no earlier request about a pod has had.
func (f *facts) nextID(pod *corev1.Pod) int64 {
	last, err := strconv.ParseInt(pod.Annotations[v1.DisruptionCountAnnotation], 10, 64)
	if err != nil {
		last = 0
	}
	asked, _ := requestOf(pod)
	return max(last, asked.ID, 0) + 1
}

// ask writes a request into the annotation of a pod.
func ask(m member, next request) action.Action {
	text, err := json.Marshal(next)
	if err != nil {
		panic(fmt.Sprintf("encoding a request: %v", err)) // it has numbers, words and a time
	}
	return action.PatchPod{Ordinal: m.ordinal, Pod: action.Exact(m.pod),
		What: fmt.Sprintf("request the %s (%s)", nounOf(next.Operation), next.answer()), Event: v1.ReasonDisruptionRequested,
		Annotations: map[string]*string{
			v1.DisruptionAnnotation: new(string(text)), v1.DisruptionCountAnnotation: new(strconv.FormatInt(next.ID, 10))}}
}

func nounOf(operation v1.DisruptionOperationType) string {
	switch operation {
	case v1.ScaleDownDisruptionOperationType:
		return "removal"
	case v1.ReplaceDisruptionOperationType:
		return "replacement"
	default:
		return "update"
	}
}

// reportAwaitedGates adds to the message about what the set waits for which gates have yet to
// agree, and until when at most.
func (f *facts) reportAwaitedGates(d *draft, m member, asked request, gates []string, until time.Time) {
	d.skip(m, v1.PlanWhyNotGate, "waiting for its disruption gates")
	if d.atGate {
		return
	}
	d.atGate = true
	if d.waiting != "" {
		d.waiting += "; "
	}
	end := ""
	if !until.IsZero() {
		end = ", or at " + words.Timestamp(until)
	}
	slices.Sort(gates)
	d.waiting += fmt.Sprintf("the %s of pod %s waits until %s is True on it with reason %s%s", nounOf(asked.Operation), m.pod.Name,
		strings.Join(gates, " and "), asked.answer(), end)
}

func typesOf(gates []*v1.DisruptionGate) (types []string) {
	for _, gate := range gates {
		types = append(types, gate.ConditionType)
	}
	return types
}

// setGates sets conditions of a pod.
func (f *facts) setGates(m member, types []string, status corev1.ConditionStatus, reason string) action.Action {
	var conditions []corev1.PodCondition
	for _, kind := range types {
		conditions = append(conditions, corev1.PodCondition{
			Type: corev1.PodConditionType(kind), Status: status, Reason: reason,
			LastTransitionTime: metav1.NewTime(f.world.Now.Truncate(time.Second))})
	}
	return action.SetPodConditions{Ordinal: m.ordinal, Pod: action.Exact(m.pod), Conditions: conditions}
}

// settleGates withdraws requests for what is no longer going to happen, and sets the conditions of
// new pods whose readiness depends on a gate that is not asked. It does not wait for healthy
// members: others may wait for a pod that was asked about.
func settleGates(f *facts, d *draft) verdict {
	for m := range f.all() {
		if m.pod == nil || isTerminating(m.pod) || isFinished(m.pod) || d.changesPod(m) {
			continue
		}
		switch {
		case !isRequested(m.pod):
			if types := f.gatesWithoutCondition(m.pod); len(types) > 0 {
				d.add(f.setGates(m, types, corev1.ConditionTrue, v1.ReasonGateNotRequested))
			}
		case len(f.gatesFor(f.desiredRequest(m).Operation)) == 0 || d.withdrawn[m.pod.UID] || f.isMootFor(m):
			d.add(f.withdraw(m))
		}
	}
	return proceed
}

// isMootFor reports whether the request about a pod is for something other than what is going to
// happen to it.
func (f *facts) isMootFor(m member) bool {
	asked, _ := requestOf(m.pod)
	return !asked.isFor(f.desiredRequest(m))
}

// withdraw is the next action of the withdrawal of a request. The conditions come first, so that
// the annotation shows until the end that there is something to withdraw.
func (f *facts) withdraw(m member) action.Action {
	var closed []string
	for _, c := range m.pod.Status.Conditions {
		if c.Status == corev1.ConditionFalse && (c.Reason == v1.ReasonGateRequested || f.isGate(c.Type)) {
			closed = append(closed, string(c.Type))
		}
	}
	if len(closed) > 0 {
		return f.setGates(m, closed, corev1.ConditionTrue, v1.ReasonGateNotRequested)
	}
	return action.PatchPod{
		Ordinal: m.ordinal, Pod: action.Exact(m.pod), What: "withdraw the request", Annotations: map[string]*string{v1.DisruptionAnnotation: nil}}
}

// gatesWithoutCondition are the gates on which the readiness of a pod depends and for which it has
// no condition.
func (f *facts) gatesWithoutCondition(pod *corev1.Pod) (types []string) {
	for _, gate := range pod.Spec.ReadinessGates {
		if f.isGate(gate.ConditionType) && conditionOf(pod, gate.ConditionType) == nil {
			types = append(types, string(gate.ConditionType))
		}
	}
	return types
}

func (f *facts) isGate(kind corev1.PodConditionType) bool {
	if f.world.Set.Spec.Disruption == nil {
		return false
	}
	for i := range f.world.Set.Spec.Disruption.Gates {
		if f.world.Set.Spec.Disruption.Gates[i].ConditionType == string(kind) {
			return true
		}
	}
	return false
}

// nextGate is the time until the first awaited gate times out; zero if none is awaited, or none
// times out.
func (f *facts) nextGate() (next time.Duration) {
	if f.isFrozen() || f.world.Set.DeletionTimestamp != nil {
		return 0
	}
	for m := range f.all() {
		if !f.isLeavingService(m) {
			continue
		}
		asked, _ := requestOf(m.pod)
		wanted, gates := f.gated(m)
		if s := f.gateStatusOf(m.pod, gates, asked); asked.isFor(wanted) && !s.until.IsZero() {
			next = soonest(next, s.until.Sub(f.world.Now))
		}
	}
	return next
}
