// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// generatedMutants are wrong in what they draw, when, and in what they say of it.
func generatedMutants() map[string]scripted {
	// unaware has nobody been given anything.
	unaware := func(w World) World {
		w.Claims, w.Pods = slices.Clone(w.Claims), slices.Clone(w.Pods)
		for i, claim := range w.Claims {
			w.Claims[i] = claim.DeepCopy()
			delete(w.Claims[i].Annotations, generatedNote)
		}
		for i, pod := range w.Pods {
			w.Pods[i] = pod.DeepCopy()
			delete(w.Pods[i].Annotations, generatedNote)
		}
		return w
	}
	created := func(change func(*action.CreateMember)) func(World, Plan) Plan {
		return each(func(a action.CreateMember) []action.Action {
			a.Pod = a.Pod.DeepCopy()
			for i := range a.Claims {
				a.Claims[i] = a.Claims[i].DeepCopy()
			}
			change(&a)
			return []action.Action{a}
		})
	}
	made := func(change func(*action.CreateObject)) func(World, Plan) Plan {
		return each(func(a action.CreateObject) []action.Action {
			a.Object = a.Object.DeepCopy()
			change(&a)
			return []action.Action{a}
		})
	}
	claim := func(change func(World, action.MarkClaim) []action.Action) func(World, Plan) Plan {
		return func(w World, p Plan) Plan {
			return each(func(a action.MarkClaim) []action.Action { return change(w, a) })(w, p)
		}
	}
	// given is a world in which all claims say that they were given everything.
	given := func(w World) World {
		w.Claims = slices.Clone(w.Claims)
		for i, claim := range w.Claims {
			w.Claims[i] = claim.DeepCopy()
			w.Claims[i].Annotations = map[string]string{generatedNote: "web-0-auth,web-1-auth,web-sst"}
		}
		if object := w.Objects[keyOf("Secret/web-0-auth")]; object == nil {
			return unaware(w) // it is yet to be drawn
		}
		return w
	}
	return map[string]scripted{
		"draws again": {
			"generated-lost", mutant{"drawn over data", func(w World, p Plan) Plan { return withDraws(p, Compute(unaware(w))) }}},
		"draws again for pods without claims": {
			"generated-claimless", mutant{"drawn over data", func(w World, p Plan) Plan { return withDraws(p, Compute(unaware(w))) }}},
		"gives up Secrets that claims know": {
			"retention-claim-knows", mutant{"object retires", func(w World, p Plan) Plan { return markingObjects(p, Compute(unaware(w))) }}},
		"has Secrets that claims know go with the set": {"with-set-claim-knows",
			mutant{"object owners", func(w World, p Plan) Plan { return adding[action.ApplyObject](p, Compute(unaware(w))) }}},
		"draws nothing": {"generated-life", mutant{"draws", made(func(a *action.CreateObject) { a.Generate = nil })}},
		"says nothing of what is drawn": {"generated-life", mutant{"draws", made(func(a *action.CreateObject) {
			a.Object.SetAnnotations(map[string]string{ownerNote: a.Object.GetAnnotations()[ownerNote]})
		})}},
		"draws in the plan": {"generated-life",
			mutant{"values in plans", made(func(a *action.CreateObject) { a.Object.Object["data"] = map[string]any{"password": "aGk="} })}},
		"creates pods that do not say": {
			"generated-claimless", mutant{"given", created(func(a *action.CreateMember) { delete(a.Pod.Annotations, generatedNote) })}},
		"creates claims that do not say": {"generated-life", mutant{"given", created(func(a *action.CreateMember) {
			each1(a.Claims, func(c *corev1.PersistentVolumeClaim) { delete(c.Annotations, generatedNote) })
		})}},
		"creates pods before their claims say": {
			"generated-adopted", mutant{"given", func(w World, p Plan) Plan { return doing(p, Compute(given(w))) }}},
		"has claims forget": {"generated-rotated", mutant{"forgets", claim(func(_ World, a action.MarkClaim) []action.Action {
			a.Annotations = map[string]*string{generatedNote: new("web-sst")}
			return []action.Action{a}
		})}},
		"never tells claims of members that run": {
			"generated-added", mutant{"tells claims", claim(func(_ World, a action.MarkClaim) []action.Action {
				return only(a, a.As != action.ClaimUsesSecrets)
			})}},
		"draws after the rest": {"generated-order", mutant{"secrets first", func(w World, p Plan) Plan {
			for i, chain := range p.Chains {
				if at := slices.IndexFunc(chain, func(a action.Action) bool {
					c,
						makes := a.(action.CreateObject)
					return makes && len(c.Generate) > 0
				}); at >= 0 && at+1 < len(chain) && isCreateObject(chain[at+1]) {
					p.Chains[i] = slices.Clone(chain)
					p.Chains[i][at], p.Chains[i][at+1] = chain[at+1], chain[at]
				}
			}
			return p
		}}},
		"takes Secrets without their keys": {"generated-foreign", mutant{"objects first", func(w World, p Plan) Plan {
			w.Objects = copiesOfObjects(w.Objects)
			for _, object := range w.Objects {
				object.Outputs = AssumedOutputs(&v1.ObjectTemplate{Generate: []v1.GeneratedKey{{Key: "password"}}})
			}
			return doing(p, Compute(w))
		}}},
	}
}

// withDraws is a plan that also draws what another one does.
func withDraws(p, other Plan) Plan {
	for _, chain := range slices.Concat(other.Chains, other.Finally) {
		create, makes := chain[0].(action.CreateObject)
		if makes && len(create.Generate) > 0 &&
			!slices.ContainsFunc(p.All(), func(a action.Action) bool { return a.String() == create.String() }) {
			p.Finally = append(slices.Clip(p.Finally), action.Chain{create})
		}
	}
	return p
}

func each1[T any](all []T, do func(T)) {
	for _, one := range all {
		do(one)
	}
}
