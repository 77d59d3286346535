// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// identityMutants are wrong in what members get as parameters.
func identityMutants() map[string]mutant {
	created := func(change func(World, *corev1.Pod)) func(World, Plan) Plan {
		return func(w World, p Plan) Plan {
			return each(func(a action.CreateMember) []action.Action {
				a.Pod = a.Pod.DeepCopy()
				change(w, a.Pod)
				return []action.Action{a}
			})(w, p)
		}
	}
	// telling also tells pods their number.
	telling := func(which func(World, *corev1.Pod) bool, number func(World) string) func(World, Plan) Plan {
		return func(w World, p Plan) Plan {
			for _, pod := range w.Pods {
				if _, ordinal, ok := identity.ParsePodName(pod.Name); ok && which(w, pod) && !isRemoved(p, pod) && w.Set.DeletionTimestamp == nil {
					p.Finally = append(p.Finally, action.Chain{action.PatchPod{Ordinal: ordinal, Pod: action.Exact(pod), Minor: true, What: "set REPLICAS",
						Annotations: map[string]*string{v1.ReplicasAnnotation: new(number(w))}}})
				}
			}
			return p
		}
	}
	replicas := func(w World) string { return fmt.Sprint(identity.OrdinalsOf(w.Set).Len()) }
	return map[string]mutant{
		"renders nothing": {"parameters", func(w World, p Plan) Plan {
			return each(func(a action.CreateMember) []action.Action {
				if a.Pod.Labels[identity.RevisionLabel] == p.Status.UpdateRevision {
					a.Pod = identity.Pod(w.Set, &w.Set.Spec.Template, p.Status.UpdateRevision, a.Ordinal)
				}
				return []action.Action{a}
			})(w, p)
		}},
		"renders for the first member": {"parameters", created(func(w World, pod *corev1.Pod) {
			for i, v := range pod.Spec.Containers[0].Env {
				if v.Name == "IDENTITY" {
					pod.Spec.Containers[0].Env[i].Value = w.Set.Name + "-0"
				}
			}
		})},
		"gives parameters to sets that ask for none": {"nothing rendered", created(func(_ World, pod *corev1.Pod) {
			pod.Spec.Containers[0].Env = append(pod.Spec.Containers[0].Env, corev1.EnvVar{Name: "ORDINAL", Value: "0"})
		})},
		"renders with what the set has now": {"parameters", func(w World, p Plan) Plan {
			f := gather(w)
			return each(func(a action.CreateMember) []action.Action {
				r := f.revisions[a.Pod.Labels[identity.RevisionLabel]]
				if r == nil || w.Set.Spec.Identity == nil {
					return []action.Action{a}
				}
				source, err := identity.Recorded(r.Data.Raw)
				if err != nil {
					return []action.Action{a}
				}
				source.Identity = w.Set.Spec.Identity
				if pod, wrong := identity.OverridesOf(w.Set).Pod(source, r.Name, a.Ordinal); wrong == nil {
					a.Pod = pod
				}
				return []action.Action{a}
			})(w, p)
		}},
		"does not say how many there are": {
			"told replicas", created(func(_ World, pod *corev1.Pod) { delete(pod.Annotations, v1.ReplicasAnnotation) })},
		"says how many there were": {"told replicas", created(func(_ World, pod *corev1.Pod) {
			if pod.Annotations[v1.ReplicasAnnotation] != "" {
				pod.Annotations[v1.ReplicasAnnotation] = "77"
			}
		})},
		"never tells how many there are by now": {"converge", each(func(a action.PatchPod) []action.Action { return only(a, !isTold(a)) })},
		"tells all how many there are": {"told who reads",
			telling(func(_ World, pod *corev1.Pod) bool { _, names := pod.Annotations[v1.ReplicasAnnotation]; return !names }, replicas)},
		"tells over and over how many there are": {"told who reads",
			telling(func(w World, pod *corev1.Pod) bool { return pod.Annotations[v1.ReplicasAnnotation] == replicas(w) }, replicas)},
		"tells one too many": {
			"told replicas", each(func(a action.PatchPod) []action.Action { return toldMore(a, isTold(a)) })},
		"tells how many there are before all else": {"told last", toldFirst},
		"records only the template": {"recorded identity", each(func(a action.CreateRevision) []action.Action {
			a.Revision = a.Revision.DeepCopy()
			if source, err := identity.Recorded(a.Revision.Data.Raw); err == nil {
				a.Revision.Data.Raw = identity.RevisionData(identity.Source{Template: source.Template})
			}
			return []action.Action{a}
		})},
		"records an identity that there is not": {"recorded identity", each(func(a action.CreateRevision) []action.Action {
			a.Revision = a.Revision.DeepCopy()
			a.Revision.Data.Raw = bytes.Replace(a.Revision.Data.Raw, []byte(`{"spec":{"template":`), []byte(`{"spec":{"identity":{},"template":`), 1)
			return []action.Action{a}
		})},
		"removes what it cannot make again": {"renderable", func(w World, p Plan) Plan {
			f := gather(w)
			for _, ordinal := range f.ordinals {
				pod := f.member(ordinal)
				if ordinal > 2 && isBad(w.Set.Spec.Identity) && pod != nil && pod.DeletionTimestamp == nil && !isRemoved(p, pod) {
					p = also(p, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(pod), Reason: action.DeleteForUpdate})
				}
			}
			return p
		}},
	}
}

// toldMore tells one more than there are.
func toldMore(a action.PatchPod, tells bool) []action.Action {
	if tells {
		a.Annotations = map[string]*string{v1.ReplicasAnnotation: new(*a.Annotations[v1.ReplicasAnnotation] + "1")}
	}
	return []action.Action{a}
}

// toldFirst has everything rest on what pods are told.
func toldFirst(_ World, p Plan) Plan {
	var aside []action.Chain
	for _, chain := range p.Finally {
		if a, ok := chain[0].(action.PatchPod); ok && isTold(a) {
			p.First = append(p.First, a)
		} else {
			aside = append(aside, chain)
		}
	}
	p.Finally = aside
	return p
}

// updatesAsOne updates all members in place to what one of them is to be.
func updatesAsOne(a action.UpdateInPlace) []action.Action {
	if a.Annotations["id"] != nil {
		a.Annotations = with(a.Annotations, "id", "web-9/18")
	}
	return []action.Action{a}
}
