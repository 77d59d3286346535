// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// drainMutants are wrong in how they drain members, and in what they forget of them.
func drainMutants() map[string]mutant {
	drains := func(seconds *int32) func(World, Plan) Plan {
		asOther := withInPlace(func(u *v1.InPlaceUpdate) *v1.InPlaceUpdate {
			if u == nil {
				return nil
			}
			return &v1.InPlaceUpdate{Policy: u.Policy, DrainSeconds: seconds}
		})
		return func(w World, p Plan) Plan {
			if slices.ContainsFunc(p.All(), func(a action.Action) bool { _, creates := a.(action.CreateMember); return creates }) {
				return p // it would lack its gate
			}
			return asOther(w, p)
		}
	}
	return map[string]mutant{
		"restarts without a drain": {"drain", drains(nil)},
		"drains for too short":     {"drain", drains(new(int32(0)))},
		"makes pods that cannot drain": {"service gate", each(func(a action.CreateMember) []action.Action {
			a.Pod.Spec.ReadinessGates = nil
			return []action.Action{a}
		})},
		"puts nobody back into service": {
			"left drained", each(func(a action.SetPodConditions) []action.Action { return only(a, takesOut(a) || !aboutService(a)) })},
		"drains whom no update reaches":    {"drained for nothing", drainsMore},
		"takes the drained for the broken": {"drain", drained(breaks)},
		"ends with the pod out of service": {"end of a drain", drained(serves)},
		"forgets when a drain ends": {"next look", func(w World, p Plan) Plan {
			if _, asks := gather(w).drain(); asks {
				w.Set = w.Set.DeepCopy()
				w.Set.Spec.UpdateStrategy.RollingUpdate.InPlace.DrainSeconds = nil
				p.RequeueAfter = Compute(w).RequeueAfter
			}
			return p
		}},
		"never forgets what was said": {"converge", each(func(a action.SetPodConditions) []action.Action {
			a.Conditions = slices.DeleteFunc(slices.Clone(a.Conditions),
				func(c corev1.PodCondition) bool { return c.Reason == v1.ReasonRevisionChanged })
			return only(a, len(a.Conditions) > 0)
		})},
	}
}

// aboutService reports whether conditions are about service.
func aboutService(a action.SetPodConditions) bool {
	return slices.ContainsFunc(a.Conditions, func(c corev1.PodCondition) bool { return string(c.Type) == inServiceType })
}

// drained is the planner of a world in which pods that are out of service are otherwise.
func drained(change func(*corev1.Pod)) func(World, Plan) Plan {
	return func(w World, p Plan) Plan {
		w.Pods = copies(w.Pods)
		for _, pod := range w.Pods {
			if hasServiceGate(pod) && said(pod, inServiceType) == corev1.ConditionFalse {
				change(pod)
			}
		}
		return doing(p, Compute(w))
	}
}

// serves lets a pod that is being restarted be in service, and ready.
func serves(pod *corev1.Pod) {
	if _, restarts := noted(pod); !restarts {
		return
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; string(c.Type) == inServiceType || c.Type == corev1.PodReady {
			c.Status = corev1.ConditionTrue
		}
	}
}

// drainsMore takes everybody out of service as soon as somebody is.
func drainsMore(w World, p Plan) Plan {
	if !slices.ContainsFunc(p.All(), func(a action.Action) bool { set, is := a.(action.SetPodConditions); return is && takesOut(set) }) {
		return p
	}
	f := gather(w)
	for _, ordinal := range f.ordinals {
		if pod := f.member(ordinal); pod != nil && hasServiceGate(pod) && !isChanged(p, pod) && said(pod, inServiceType) == corev1.ConditionTrue {
			p = also(p, action.SetPodConditions{Ordinal: ordinal, Pod: action.Exact(pod),
				Conditions: []corev1.PodCondition{{Type: inServiceType, Status: corev1.ConditionFalse, Reason: v1.ReasonDraining}}})
		}
	}
	return p
}

// remembers is a planner for which all conditions have only just been set.
func remembers(w World, p Plan) Plan {
	w.Pods = copies(w.Pods)
	for _, pod := range w.Pods {
		for i := range pod.Status.Conditions {
			pod.Status.Conditions[i].LastTransitionTime.Time = w.Now
		}
	}
	return doing(p, Compute(w))
}
