// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// updatesBelowPartition removes the outdated members below the partition of a set
// that is at rest.
func updatesBelowPartition(world World, p Plan) Plan {
	f := gather(world)
	if f.strategy() != v1.RollingUpdateStatefulSetStrategyType || len(p.First)+len(p.Chains) > 0 {
		return p
	}
	return also(p, outdatedRemoved(f, p, func(ordinal int) bool { return !f.isAbovePartition(ordinal) })...)
}

// outdatedRemoved are the removals of outdated members.
func outdatedRemoved(f evidence, p Plan, of func(ordinal int) bool) (removals []action.Action) {
	for _, ordinal := range f.ordinals {
		pod := f.member(ordinal)
		if pod != nil && of(ordinal) && pod.DeletionTimestamp == nil && pod.Labels[identity.RevisionLabel] != p.Status.UpdateRevision {
			removals = append(removals, action.DeletePod{Ordinal: ordinal, Pod: action.Exact(pod), Reason: action.DeleteForUpdate})
		}
	}
	return removals
}

// under is the plan of the world if the set had another update strategy.
func under(world World, p Plan, strategy v1.StatefulSetUpdateStrategy) Plan {
	world.Set = world.Set.DeepCopy()
	world.Set.Spec.UpdateStrategy = strategy
	return doing(p, Compute(world))
}

func ignoresBudget(world World, p Plan) Plan {
	strategy := *world.Set.Spec.UpdateStrategy.DeepCopy()
	if strategy.RollingUpdate == nil {
		return p
	}
	strategy.RollingUpdate.MaxUnavailable = new(intstr.FromInt32(1000))
	return under(world, p, strategy)
}

func updatesOnDelete(world World, p Plan) Plan {
	f := gather(world)
	if f.strategy() != v1.OnDeleteStatefulSetStrategyType {
		return p
	}
	return also(p, outdatedRemoved(f, p, anyone)...)
}

// createsUpdated creates every member at the present revision.
func createsUpdated(world World, p Plan) Plan {
	return each(func(a action.CreateMember) []action.Action {
		a.Pod = identity.Pod(world.Set, &world.Set.Spec.Template, p.Status.UpdateRevision, a.Ordinal)
		return []action.Action{a}
	})(world, p)
}

func recreatesEarly(world World, p Plan) Plan {
	if world.Set.Spec.UpdateStrategy.Type != v1.RecreateStatefulSetStrategyType {
		return p
	}
	return under(world, p, v1.StatefulSetUpdateStrategy{Type: v1.OnDeleteStatefulSetStrategyType})
}

// doing is the plan with what another does before and for its members.
func doing(p, other Plan) Plan {
	p.First, p.Chains = other.First, other.Chains
	return p
}

// oneByOne makes one chain of all actions for members.
func oneByOne(_ World, p Plan) Plan {
	if len(p.Chains) > 1 {
		p.Chains = []action.Chain{slices.Concat(p.Chains...)}
	}
	return p
}

// ownsClaims changes the owners of every claim that the plan leaves alone.
func ownsClaims(change func([]metav1.OwnerReference, *v1.StatefulSet) []metav1.OwnerReference) func(World, Plan) Plan {
	return func(world World, p Plan) Plan {
		f := gather(world)
		var more []action.Action
		for _, ordinal := range f.ordinals {
			for _, template := range world.Set.Spec.VolumeClaimTemplates {
				claim := f.claims[f.claimName(template.Name, ordinal)]
				if claim == nil {
					continue
				}
				if owners := change(claim.OwnerReferences, world.Set); len(owners) != len(claim.OwnerReferences) {
					more = append(more, action.SetClaimOwners{Ordinal: ordinal, Claim: action.Exact(claim), Owners: owners})
				}
			}
		}
		return also(p, more...)
	}
}

func deletesTaken(world World, p Plan) Plan {
	f := gather(world)
	var more []action.Action
	for _, name := range blockers(world) {
		more = append(more, action.DeletePod{Ordinal: f.ordinalOf(name), Pod: action.Exact(f.pods[name]), Reason: action.DeleteFinished})
	}
	return also(p, more...)
}

func deletesRevisions(world World, p Plan) Plan {
	var more []action.Action
	for _, revision := range world.Revisions {
		more = append(more, action.DeleteRevision{Revision: action.Exact(revision)})
	}
	return also(p, more...)
}

// renames gives a new revision a name that depends on more than the template.
func renames(world World, _ Plan) Plan {
	world.Set = world.Set.DeepCopy()
	collisions := int32(world.Set.Generation)
	world.Set.Status.CollisionCount = &collisions
	return Compute(world)
}

func alwaysReady(_ World, p Plan) Plan {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == v1.StatefulSetReady {
			p.Status.Conditions[i].Status = corev1.ConditionTrue
		}
	}
	return p
}

func wipesConditions(_ World, p Plan) Plan {
	p.Status.Conditions = p.Status.Conditions[len(p.Status.Conditions)-len(ownConditions()):]
	return p
}

func alwaysAvailable(_ World, p Plan) Plan {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == v1.StatefulSetAvailable {
			p.Status.Conditions[i].Status = corev1.ConditionTrue
		}
	}
	return p
}

// saying is the plan with one reason in the place of another.
func saying(p Plan, reason, instead string) Plan {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Reason == reason {
			p.Status.Conditions[i].Reason = instead
		}
	}
	return p
}

// worksOnHeld goes on as if the set were not held.
func worksOnHeld(world World, p Plan) Plan {
	if _, held := v1.Held(world.Set); held {
		world.Set = world.Set.DeepCopy()
		world.Set.Annotations = nil
		return Compute(world)
	}
	return p
}

// worksForDeleted goes on as if the set were not being deleted.
func worksForDeleted(world World, p Plan) Plan {
	if world.Set.DeletionTimestamp == nil {
		return p
	}
	world.Set = world.Set.DeepCopy()
	world.Set.DeletionTimestamp = nil
	return doing(p, Compute(world))
}
