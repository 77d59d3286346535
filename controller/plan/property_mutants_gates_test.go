// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// gateMutants are wrong in how they ask before they take members from service.
func gateMutants() map[string]mutant {
	return map[string]mutant{
		"removes without asking":         {"gate", onSet(func(set *v1.StatefulSet) { set.Spec.Disruption = nil })},
		"takes every True for an answer": {"gate", onPods(func(pod *corev1.Pod) { rename(pod, corev1.ConditionTrue) })},
		"takes every word for an answer": {"gate", onPods(func(pod *corev1.Pod) { rename(pod, corev1.ConditionFalse) })},
		"does not wait for gates":        {"gate", onSet(withoutPatience)},
		"deletes what is to be evicted": {
			"eviction", each(func(a action.DeletePod) []action.Action { a.Evict = false; return []action.Action{a} })},
		"evicts what is broken": {
			"eviction", each(func(a action.DeletePod) []action.Action { a.Evict = true; return []action.Action{a} })},
		"restarts without asking budgets": {
			"asks budgets", each(func(a action.UpdateInPlace) []action.Action { a.AsBudgetsAllow = false; return []action.Action{a} })},
		"sets conditions before it is written": {"write-ahead", asksEarly},
		"asks under the same number": {"question", each(func(a action.PatchPod) []action.Action {
			a.Annotations = renumbered(a.Annotations)
			return []action.Action{a}
		})},
		"forgets to withdraw":         {"converge", each(func(a action.PatchPod) []action.Action { return only(a, a.Event != "") })},
		"withdraws what is to happen": {"converge", withdraws},
		"forgets to tell new pods": {"converge", each(func(a action.SetPodConditions) []action.Action {
			return only(a, a.Conditions[0].Status != corev1.ConditionTrue)
		})},
		"forgets that an answer has its time": {"next look", func(w World, p Plan) Plan {
			set := w.Set.DeepCopy()
			if set.Spec.Disruption != nil {
				for i := range set.Spec.Disruption.Gates {
					set.Spec.Disruption.Gates[i].TimeoutSeconds = nil
				}
			}
			w.Set = set
			p.RequeueAfter = Compute(w).RequeueAfter
			return p
		}},
	}
}

// onSet plans for members as if the set were another one.
func onSet(change func(*v1.StatefulSet)) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		if w.Set.Spec.Disruption == nil {
			return p
		}
		w.Set = w.Set.DeepCopy()
		change(w.Set)
		return doing(p, Compute(w))
	}
}

// onPods plans as if pods that are asked about were other ones.
func onPods(change func(*corev1.Pod)) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		w.Pods = copies(w.Pods)
		for _, pod := range w.Pods {
			if _, asked := askedOf(pod); asked {
				change(pod)
			}
		}
		return doing(p, Compute(w))
	}
}

// breaks makes a pod look as if it was not ready before anything was done with it.
func breaks(pod *corev1.Pod) {
	brokenBefore(pod)
	inServiceAgain(pod)
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status = corev1.ConditionFalse
		}
	}
}

// rename makes conditions with a status answers to what is asked.
func rename(pod *corev1.Pod, status corev1.ConditionStatus) {
	asked, _ := askedOf(pod)
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; strings.HasPrefix(string(c.Type), gateDomain) && c.Status == status {
			c.Status, c.Reason = corev1.ConditionTrue, fmt.Sprintf("Request%d", asked.ID)
		}
	}
}

func withoutPatience(set *v1.StatefulSet) {
	for i := range set.Spec.Disruption.Gates {
		set.Spec.Disruption.Gates[i].TimeoutSeconds = new(int32(0))
	}
}

// asksEarly sets conditions instead of writing down what is asked.
func asksEarly(w World, p Plan) Plan {
	if w.Set.Spec.Disruption == nil || len(w.Set.Spec.Disruption.Gates) == 0 {
		return p
	}
	return each(func(a action.PatchPod) []action.Action {
		if a.Event == "" {
			return []action.Action{a}
		}
		return []action.Action{action.SetPodConditions{Ordinal: a.Ordinal, Pod: a.Pod, Conditions: []corev1.PodCondition{
			{Type: corev1.PodConditionType(w.Set.Spec.Disruption.Gates[0].ConditionType), Status: corev1.ConditionFalse, Reason: "Requested"}}}}
	})(w, p)
}

// renumbered asks as the first of all questions.
func renumbered(annotations map[string]*string) map[string]*string {
	if len(annotations) < 2 {
		return annotations
	}
	all := maps.Clone(annotations)
	asked, _ := askedOf(&corev1.Pod{ObjectMeta: *withAnnotation(*all["apps.statefulset.dev/disruption"])})
	all["apps.statefulset.dev/disruption"] = new(
		strings.Replace(*all["apps.statefulset.dev/disruption"], fmt.Sprintf(`"id":%d`, asked.ID), `"id":1`, 1))
	all["apps.statefulset.dev/disruption-count"] = new("1")
	return all
}

// withdraws withdraws what is asked as soon as that is written.
func withdraws(w World, p Plan) Plan {
	f := gather(w)
	for _, ordinal := range f.ordinals {
		if pod := f.member(ordinal); pod != nil && f.isLeaving(ordinal) && !isChanged(p, pod) {
			p = also(p, action.PatchPod{
				Ordinal: ordinal, Pod: action.Exact(pod), What: "withdraw", Annotations: map[string]*string{"apps.statefulset.dev/disruption": nil}})
		}
	}
	return p
}

func isChanged(p Plan, pod *corev1.Pod) bool {
	for _, act := range p.All() {
		if _, at := targetOf(act); at.UID == pod.UID {
			return true
		}
	}
	return false
}
