// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"statefulset.dev/controller/plan/action"
)

// unblockMutants are wrong in how they replace members out of turn.
func unblockMutants() map[string]mutant {
	return map[string]mutant{
		"replaces unready members that nobody asked to be replaced": {"reason to delete", func(w World, p Plan) Plan {
			if f := gather(w); !asksToUnblock(f) {
				return also(p, removesUnready(f, p, anyone)...)
			}
			return p
		}},
		"replaces unready members before the status says so": {"reason to delete", func(w World, p Plan) Plan {
			if chosen := p.Status.Rollout; chosen != nil && w.Set.Status.Rollout == nil {
				return also(p, removesUnready(gather(w), p, func(ordinal int) bool { return ordinal == int(*chosen.Unblocking) })...)
			}
			return p
		}},
		"replaces members of ordered sets before their time": {"reason to delete", func(w World, p Plan) Plan { return early(w, p, true) }},
		"replaces members that are ready": {"reason to delete", func(w World, p Plan) Plan {
			f := gather(w)
			if !asksToUnblock(f) {
				return p
			}
			for _, ordinal := range f.ordinals {
				if f.serves(ordinal) {
					return also(p, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(f.member(ordinal)), Reason: action.DeleteUnready})
				}
			}
			return p
		}},
		"replaces all unready members at once": {"reason to delete", func(w World, p Plan) Plan {
			if f := gather(w); f.ordered() && asksToUnblock(f) {
				return also(p, removesUnready(f, p, anyone)...)
			}
			return p
		}},
		"does not note which member it replaces": {"converge", func(_ World, p Plan) Plan { p.Status.Rollout = nil; return p }},
		"takes members to an update that is broken": {"reason to delete", func(w World, p Plan) Plan {
			f := gather(w)
			named := (&judged{evidence: f, plan: p}).named()
			return also(p, removesUnready(f, p, func(ordinal int) bool { return ordinal == named })...)
		}},
		"forgets to replace the unready": {
			"converge", each(func(a action.DeletePod) []action.Action { return only(a, a.Reason != action.DeleteUnready) })},
		"waits for the members before the replaced one": {"converge", func(w World, p Plan) Plan {
			named := (&judged{evidence: gather(w), plan: p}).named()
			return each(func(a action.CreateMember) []action.Action { return only(a, a.Ordinal != named) })(w, p)
		}},
	}
}

// early is the plan of an hour later.
func early(w World, p Plan, ordered bool) Plan {
	if f := gather(w); f.ordered() != ordered || !asksToUnblock(f) {
		return p
	}
	w.Now = w.Now.Add(time.Hour)
	later := Compute(w)
	p.Status.Rollout = later.Status.Rollout
	return doing(p, later)
}

func asksToUnblock(f evidence) bool { _, asked := f.patience(); return asked }

func anyone(int) bool { return true }

// removesUnready are removals of wanted members that are not ready.
func removesUnready(f evidence, p Plan, of func(ordinal int) bool) (removals []action.Action) {
	for _, ordinal := range f.ordinals {
		pod := f.member(ordinal)
		if pod == nil || !of(ordinal) || isRemoved(p, pod) {
			continue
		}
		if _, unready := unreadySince(pod); unready {
			removals = append(removals, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(pod), Reason: action.DeleteUnready})
		}
	}
	return removals
}

func isRemoved(p Plan, pod *corev1.Pod) bool {
	for _, act := range p.All() {
		if a, ok := act.(action.DeletePod); ok && a.Pod.Name == pod.Name {
			return true
		}
	}
	return false
}
