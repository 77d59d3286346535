// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// event is something that happens, drawn before it is known what there is for it
// to happen to: Which picks one of the objects that it can happen to, and Value one
// of the values that it can have.
type event struct {
	Kind         string
	Which, Value int
}

// kinds are all kinds of events, each as often as it should be drawn. The first is
// what a failing sequence is reduced to.
var kinds = weighted([]kind{
	{1, "nothing"}, {10, "look"}, {6, "ready"}, {5, "gone"}, {2, "gc"}, {2, "unready"}, {2, "kill"}, {2, "wait"}, {2, "skew"}, {1, "converge"},
	{3, "stale"}, {1, "crash"}, {1, "refuse"}, {1, "allow"},
	{1, "fail"}, {1, "succeed"}, {1, "evict"}, {1, "orphan"}, {1, "orphanrevisions"}, {1, "steal"}, {1, "unlabel"}, {1, "mislabel"},
	{2, "bind"}, {1, "killclaim"}, {2, "dropclaim"}, {1, "stealclaim"},
	{3, "replicas"}, {3, "image"}, {1, "partition"}, {1, "maxUnavailable"}, {1, "start"}, {1, "whenDeleted"}, {1, "whenScaled"},
	{2, "scaledAfterSeconds"},
	{1, "minReadySeconds"}, {1, "historyLimit"}, {1, "strategy"}, {1, "replaceUnreadyAfterSeconds"}, {2, "paused"}, {2, "steps"},
	{1, "failurePolicy"}, {1, "abort"}, {1, "promote"}, {1, "promoteall"}, {2, "true"}, {1, "false"}, {1, "policy"}, {1, "service"},
	{2, "reserved"}, {2, "remove"}, {1, "volumeClaimUpdate"}, {2, "claims"}, {1, "claimLabel"}, {1, "nodepending"}, {2, "replace"},
	{1, "rate"}, {3, "overrides"}, {2, "identity"}, {1, "args"}, {2, "objects"}, {2, "retention"}, {1, "stranger"}, {1, "share"}, {1, "leave"},
	{1, "drift"}, {1, "driftagain"}, {1, "killobject"}, {1, "dropobject"}, {1, "unknown"}, {1, "refused"}, {2, "known"}, {1, "late"},
	{1, "withhold"}, {2, "give"}, {1, "expose"},
	{1, "direction"}, {1, "first"}, {1, "last"}, {2, "lead"}, {1, "follow"},
	{2, "inPlace"}, {1, "drain"}, {1, "conditions"}, {4, "restart"}, {1, "crashloop"}, {1, "observe"}, {2, "rerun"}, {3, "slip"}, {2, "swap"},
	{1, "invalid"},
	{2, "cpu"}, {1, "memory"}, {1, "resizes"}, {3, "outgrow"}, {1, "resized"}, {1, "defer"}, {3, "cramp"},
	{1, "gates"}, {3, "answer"}, {1, "misanswer"}, {1, "busy"}, {1, "method"},
	{1, "hold"}, {2, "unhold"}, {1, "deleteset"}, {3, "newset"},
})

// always are the kinds of events without which nothing goes on.
var always = weighted(
	[]kind{{1, "nothing"}, {4, "look"}, {6, "ready"}, {5, "gone"}, {1, "gc"}, {1, "bind"}, {1, "image"}, {1, "wait"}, {1, "unready"}})

type kind struct {
	weight int
	name   string
}

func weighted(all []kind) (names []string) {
	for _, k := range all {
		names = append(names, slices.Repeat([]string{k.name}, k.weight)...)
	}
	return names
}

// commandFor is the command by which an event happens, nil if there is nothing that
// it could happen to.
func (s *stage) commandFor(e event) []string {
	if values, ok := settings[e.Kind]; ok {
		if slices.Contains([]string{"paused", "steps", "failurePolicy", "inPlace", "drain"}, e.Kind) &&
			s.set.Spec.UpdateStrategy.Type != v1.RollingUpdateStatefulSetStrategyType {
			return nil
		}
		if (e.Kind == "claims" || e.Kind == "claimLabel") && s.set.Spec.VolumeClaimUpdate == nil {
			return nil // the server refuses it
		}
		return []string{"set", e.Kind + "=" + choice(values, e.Value)}
	}
	switch e.Kind {
	case "nothing":
		return nil
	case "look", "gc", "allow", "orphanrevisions", "hold", "unhold":
		return []string{e.Kind}
	case "converge":
		if !s.isFair() || s.skew != 0 {
			return nil
		}
		return append([]string{e.Kind}, pace(e.Value)...)
	case "remove":
		// A set that waits for a name of somebody else has more to do.
		if !s.isFair() || s.skew != 0 || s.set.DeletionTimestamp != nil || len(blockers(s.world())) > 0 {
			return nil
		}
		return on(e, s.removable())
	case "cramp":
		if able := s.podCommand(e); able != nil {
			return able
		}
		return []string{e.Kind}
	case "outgrow": // more than the node of a member may have
		if s.set.Spec.UpdateStrategy.Type != v1.RollingUpdateStatefulSetStrategyType {
			return nil
		}
		return []string{"set", "inPlace=IfPossible", "cpu=" + choice([]string{"200m", "300m", "100m"}, e.Value)}
	case "abort", "promote", "promoteall":
		return s.decisionFor(e)
	case "true", "false":
		if pod := on(e, slices.Sorted(maps.Keys(s.pods))); pod != nil {
			return append(pod, "ok")
		}
		return nil
	case "wait":
		return []string{e.Kind, choice([]string{"10s", "3s", "30s", "11m"}, e.Value)}
	case "skew":
		return []string{e.Kind, choice(skews, e.Value)}
	case "stale":
		return []string{e.Kind, choice([]string{"pods", "claims", "revisions", "all"}, e.Which), fmt.Sprint(1 + e.Value%mostPast)}
	case "crash":
		return []string{e.Kind, fmt.Sprint(e.Value % 4)}
	case "refuse":
		what := []string{"create pod", "delete pod", "evict pod", "create claim", "set owners", "claim www-web-1", "pod web-1", "pod web-0",
			"revision", "update pod", "resize pod", "create ConfigMap", "change ConfigMap", "create Service", "mark ConfigMap", "delete ConfigMap"}
		if what := choice(what, e.Value); what == "evict pod" {
			return []string{e.Kind, what + ": " + choice([]string{"budget", "no", "budgets"}, e.Which)}
		}
		return []string{e.Kind, choice(what, e.Value) + ": no"}
	case "invalid":
		return []string{e.Kind, choice([]string{"in place (", "pod web-1 in place", "resize pod"}, e.Value)}
	case "deleteset":
		// A deleted set does nothing any more, so it should not happen often.
		if s.set.DeletionTimestamp != nil || e.Value%4 != 0 {
			return nil
		}
		return []string{e.Kind}
	case "newset":
		if s.set.DeletionTimestamp == nil {
			return nil
		}
		return []string{e.Kind}
	case "bind", "nodepending", "killclaim", "dropclaim", "stealclaim":
		return s.claimCommand(e)
	case "stranger", "share", "leave", "drift", "driftagain", "killobject", "dropobject", "unknown", "refused", "known", "late", "withhold",
		"give", "expose":
		return s.objectEvent(e)
	default:
		return s.podCommand(e)
	}
}

// claimCommand picks a claim for an event.
func (s *stage) claimCommand(e event) []string {
	var able []string
	for _, name := range slices.Sorted(maps.Keys(s.claims)) {
		claim := s.claims[name]
		if e.Kind == "bind" && claim.Status.Phase != corev1.ClaimBound ||
			e.Kind == "nodepending" && claim.Status.Capacity.Storage().Cmp(*claim.Spec.Resources.Requests.Storage()) < 0 &&
				claim.Status.Phase == corev1.ClaimBound ||
			e.Kind == "dropclaim" && !s.mounted(name) ||
			e.Kind == "killclaim" && claim.DeletionTimestamp == nil ||
			e.Kind == "stealclaim" && metav1.GetControllerOfNoCopy(claim) == nil {
			able = append(able, name)
		}
	}
	return on(e, able)
}

// podCommand picks a pod to which an event can happen.
func (s *stage) podCommand(e event) []string {
	var able []string
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		pod := s.pods[name]
		terminating, controlled := pod.DeletionTimestamp != nil, metav1.GetControllerOfNoCopy(pod) != nil
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		ok := false
		switch e.Kind {
		case "gone":
			ok = terminating
		case "kill", "lead", "follow":
			ok = !terminating
		case "answer", "misanswer", "busy":
			_, ok = askedOf(pod)
			ok = ok && !terminating
		case "replace":
			ok = s.canAsk(name)
		case "restart", "crashloop":
			ok = s.restartable(name)
		case "resized":
			ok = s.resizable(name)
		case "defer", "cramp":
			ok = s.resizable(name) && len(resizing(pod)) == 0
		case "swap":
			ok = s.restartable(name) && s.canRun(pod)
		case "rerun", "slip":
			ok = s.restartable(name) && pod.Status.ObservedGeneration < pod.Generation
		case "observe":
			ok = pod.Status.ObservedGeneration < pod.Generation
		case "ready", "unready", "fail", "succeed", "evict":
			ok = !ended && s.canRun(pod)
		case "orphan", "steal":
			ok = controlled
		case "unlabel":
			ok = pod.Labels["app"] != ""
		case "mislabel":
			ok = pod.Labels["statefulset.kubernetes.io/pod-name"] == name
		}
		if ok {
			able = append(able, name)
		}
	}
	return on(e, able)
}

func on(e event, able []string) []string {
	if len(able) == 0 {
		return nil
	}
	return []string{e.Kind, choice(able, e.Which)}
}

// live plays a sequence to its end: the set is made and may come up in peace, what
// was drawn happens, and from then on the host is willing. When names are taken, it ends a second time with
// them free.
func (s *stage) live(fields []string, inPeace bool, events []event) {
	s.happen("set", fields...)
	if inPeace && !asksForNowhere(s.set) && !failsToRender(s.set) && !s.hindered() {
		s.happen("converge")
	}
	for _, e := range events {
		if words := s.commandFor(e); words != nil {
			s.happen(words[0], words[1:]...)
		}
	}
	s.happen("allow")
	s.happen("skew", "0s")
	s.happen("unhold")
	if gather(s.world()).isPaused() {
		s.happen("set", "paused=false")
	}
	if s.isOnly() {
		s.happen("set", "inPlace=IfPossible")
	}
	if s.mute {
		s.happen("set", "conditions=yes")
	}
	s.heal()
	s.tryAgain()
	if names := s.shapelessPods(); len(names) > 0 {
		s.happen("kill", names...)
	}
	s.happen("observe", slices.Sorted(maps.Keys(s.pods))...)
	if names := s.kept(); len(names) > 0 {
		s.happen("kill", names...)
	}
	s.happen("converge", pace(events[0].Value)...)
	if taken := blockers(s.world()); len(taken) > 0 && s.set.DeletionTimestamp == nil {
		s.happen("kill", taken...)
		s.happen("converge")
	}
}

func (s *stage) happen(command string, args ...string) {
	words := append([]string{command}, args...)
	s.script = append(s.script, strings.Join(words, " "))
	s.tell(words)
}

// foreign is a condition of somebody else.
var foreign = v1.StatefulSetCondition{
	Type: "example.com/Checked", Status: corev1.ConditionUnknown, Reason: "NotYet", LastTransitionTime: metav1.Unix(1, 0)}
