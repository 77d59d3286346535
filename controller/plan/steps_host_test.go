// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/decision"
)

// stepsOf reads the steps of an update, such as 1:bake=10:if=example.com/ok:manual/50%, or none.
func (h *host) stepsOf(text string) (steps []v1.RolloutStep) {
	h.t.Helper()
	if text == "none" {
		return nil
	}
	for part := range strings.SplitSeq(text, "/") {
		words := strings.Split(part, ":")
		step := v1.RolloutStep{Updated: intstr.Parse(words[0])}
		for _, word := range words[1:] {
			switch key, value, _ := strings.Cut(word, "="); key {
			case "bake":
				step.BakeSeconds = int32(h.number(value))
			case "if":
				step.PodConditions = append(step.PodConditions, "example.com/"+value)
			case "manual":
				step.Approval = v1.ManualRolloutStepApproval
			default:
				h.t.Fatalf("unknown word %q of a step", word)
			}
		}
		steps = append(steps, step)
	}
	return steps
}

// decide carries out the commands by which people and checkers decide about an update, and
// reports false if it knows no such command: "promote 2", "promoteall", "abort", as the server
// takes or refuses them, "abort blindly", as if it knew nothing of the pods, and "true web-1 ok",
// "false web-1 ok" and "unknown web-1 ok" for the condition example.com/ok of a pod. With "by=ann" the
// server records that ann decided. "rollout-restart by=ann" restarts the set.
func (s *stage) decide(name string, args []string) bool {
	if about := s.decisionOf(name, args); about != nil {
		set := s.set.DeepCopy()
		if err := decision.Record(set, about, s.strays(args)); err != nil {
			fmt.Fprintf(&s.log, "  refused: %v\n", err)
			return true
		}
		s.set.Status.Rollout = set.Status.Rollout
		s.noteBy(args, v1.UserAction{Action: v1.UserActionType(about.Action), Revision: about.Revision, Step: about.Step})
		return true
	}
	if name == "rollout-restart" {
		metav1.SetMetaDataAnnotation(&s.set.Spec.Template.ObjectMeta, identity.RestartedAtAnnotation, s.now.UTC().Format(time.RFC3339))
		s.set.Generation++
		s.noteBy(args, v1.UserAction{Action: v1.RestartUserAction})
		return true
	}
	status, is := map[string]corev1.ConditionStatus{
		"true": corev1.ConditionTrue, "false": corev1.ConditionFalse, "unknown": corev1.ConditionUnknown}[name]
	if is {
		s.changePod(args[0], func(pod *corev1.Pod) {
			setCondition(pod, corev1.PodConditionType("example.com/"+args[1]), status, s.now)
		})
	}
	return is
}

// noteBy records who did something, if the command says so.
func (s *stage) noteBy(args []string, action v1.UserAction) {
	for _, arg := range args {
		if user, is := strings.CutPrefix(arg, "by="); is {
			action.User, action.Time = user, metav1.NewTime(s.now)
			identity.RecordUserAction(s.set, action)
		}
	}
}

// userActionsText is who did what, as far as the status says.
func (s *stage) userActionsText() (lines []string) {
	for i := range s.set.Status.UserActions {
		a := &s.set.Status.UserActions[i]
		lines = append(lines, fmt.Sprintf("%s; observed: %t", identity.DescribeUserAction(s.set.Name, a), a.Observed))
	}
	return lines
}

// decisionOf is the decision that a command is about, nil if it is about none.
func (s *stage) decisionOf(name string, args []string) *v1.StatefulSetRollout {
	about := &v1.StatefulSetRollout{Revision: s.set.Status.UpdateRevision}
	switch name {
	case "promote":
		about.Action, about.Step = v1.PromoteRollout, int32(s.number(args[0]))
	case "promoteall":
		about.Action = v1.PromoteAllRollout
	case "abort":
		about.Action = v1.AbortRollout
	default:
		return nil
	}
	return about
}

// strays are the members that could not go back, as the server sees them.
func (s *stage) strays(args []string) (ranges []v1.OrdinalRange) {
	if slices.Contains(args, "blindly") {
		return nil
	}
	f := gather(s.world())
	for _, ordinal := range f.ordinals {
		if pod := f.member(ordinal); pod != nil && decision.IsStray(s.set, pod.Labels["controller-revision-hash"]) {
			ranges = identity.AppendOrdinal(ranges, ordinal)
		}
	}
	return ranges
}

// accepts reports whether the server takes a decision.
func (s *stage) accepts(words []string) bool {
	return decision.Record(s.set.DeepCopy(), s.decisionOf(words[0], words[1:]), s.strays(words)) == nil
}

// stepText is what the status says of an update that goes by steps, or may be rolled back.
func (s *stage) stepText(r *v1.RolloutStatus) (text string) {
	rolling := s.set.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil || len(rolling.Steps) == 0 && rolling.FailurePolicy == nil && !r.Aborted {
		return ""
	}
	at := func(what string, t *metav1.Time) {
		if t != nil {
			text += fmt.Sprintf(", %s since %s", what, t.Format(time.TimeOnly))
		}
	}
	text = fmt.Sprintf("; step %d", r.Step)
	at("baking", r.BakeStartTime)
	at("no better", r.ProgressTime)
	if len(r.Passed) > 0 {
		text += ", passed " + rangesText(r.Passed)
	}
	if r.PromotedStep > 0 || r.PromotedAll {
		text += ", promoted"
	}
	if r.Aborted {
		text += ", aborted"
	}
	if r.Rollback {
		text += ", to be rolled back: " + r.Failure.Reason
	}
	return text
}

func setCondition(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, now time.Time) {
	pod.Status.Conditions = slices.DeleteFunc(slices.Clone(pod.Status.Conditions), func(c corev1.PodCondition) bool { return c.Type == kind })
	pod.Status.Conditions = append(pod.Status.Conditions,
		corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Time{Time: now}})
}

// decisionFor is the command by which somebody decides about the update that is under way, nil
// if the server would not take it.
func (s *stage) decisionFor(e event) []string {
	words := []string{e.Kind}
	switch steps := len(gather(s.world()).steps()); {
	case e.Kind == "promote" && steps == 0:
		return nil
	case e.Kind == "promote":
		words = append(words, fmt.Sprint(1+e.Value%steps))
	case e.Kind == "abort" && e.Value%4 == 3:
		words = append(words, "blindly")
	}
	if !s.accepts(words) {
		return nil
	}
	return words
}

// isRolledBack reports whether the present update is not tried again.
func (s *stage) isRolledBack() bool {
	record := s.set.Status.Rollout
	return record != nil && record.Revision == s.set.Status.UpdateRevision && (record.Aborted || record.Rollback)
}

// tryAgain is what a user does about an update that was rolled back, or was to be and cannot, and
// keeps the host from rolling back another.
func (s *stage) tryAgain() {
	if s.set.Spec.UpdateStrategy.Type == v1.RollingUpdateStatefulSetStrategyType {
		s.endRollback()
	}
	s.giveAnotherTemplate()
}

// endRollback lets a rolling update that was rolled back go on where it cannot go back.
func (s *stage) endRollback() {
	if gather(s.world()).failsBack() {
		s.happen("set", "failurePolicy=Wait")
	}
	if s.isRolledBack() { // unless another template has been given since
		s.happen("look")
	}
	if s.isRolledBack() && s.accepts([]string{"promoteall"}) { // it cannot go back
		s.happen("promoteall")
	}
}

// giveAnotherTemplate gives a set whose update was aborted or rolled back another one.
func (s *stage) giveAnotherTemplate() {
	if image := s.set.Spec.Template.Spec.Containers[0].Image; s.isRolledBack() {
		s.happen("set", "image="+choice([]string{"nginx:1", "nginx:2"}, map[string]int{"nginx:1": 1}[image]))
	}
}

// check does what an update waits for that goes by steps: conditions become True, and
// somebody promotes the step.
func (s *stage) check() (acted []string) {
	steps, record := gather(s.world()).steps(), s.set.Status.Rollout
	if record == nil || record.Step < 1 || int(record.Step) > len(steps) || !s.accepts([]string{"promote", fmt.Sprint(record.Step)}) {
		return nil
	}
	step := steps[record.Step-1]
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		for _, condition := range step.PodConditions {
			if pod := s.pods[name]; said(pod, condition) != corev1.ConditionTrue {
				if wasForgotten(pod, condition) {
					s.now = s.now.Add(time.Second) // or it might be about the moment before that
				}
				s.changePod(name, func(pod *corev1.Pod) {
					setCondition(pod, corev1.PodConditionType(condition), corev1.ConditionTrue, s.now)
				})
				acted = append(acted, condition+" of "+name+" is True")
			}
		}
	}
	if len(acted) == 0 && step.Approval == v1.ManualRolloutStepApproval && record.PromotedStep < record.Step {
		s.decide("promote", []string{fmt.Sprint(record.Step)})
		acted = append(acted, fmt.Sprintf("promote %d", record.Step))
	}
	return acted
}

// wasForgotten reports whether what a condition said of a pod was forgotten.
func wasForgotten(pod *corev1.Pod, condition string) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return string(c.Type) == condition && c.Reason == "RevisionChanged"
	})
}
