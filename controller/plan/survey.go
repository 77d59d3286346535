// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
	"statefulset.dev/identity/render"
)

// facts are a world, and what follows from it before anything is decided. Nothing in it changes
// after the survey.
type facts struct {
	world World
	// ordered is true for a set whose members wait for each other.
	ordered bool
	// suspended is true for a suspended set: nothing is done for it.
	suspended bool
	// badSelector says why the set's selector cannot be used, nil if it can.
	badSelector error

	// roster are the ordinals of the desired members. members are the desired members that have a
	// pod, and the first ones that do not, in ascending order. condemned are the members with
	// surplus pods, in descending order.
	roster    identity.Ordinals
	members   []member
	condemned []member
	// podNames are all pods by their names, nil until the first use.
	podNames map[string]*corev1.Pod
	// updateSequence lists the desired members in the order of an update, nil if that is the order
	// of apps/v1.
	updateSequence []member
	// adopt are the pods that the set adopts, and release the pods that it gives up.
	adopt   []member
	release []action.Target
	// available is the number of desired members that are available, and podsAtRevision the number
	// of the set's pods by the revision that they run.
	available      int
	podsAtRevision map[string]int
	claims         map[string]*corev1.PersistentVolumeClaim
	// ownerChanges are the changes of claim owners that the retention policy requires, by the
	// ordinals of members. exposed are such changes for claims that could be deleted although the
	// policy keeps them, by name.
	ownerChanges map[int][]action.SetClaimOwners
	exposed      []action.SetClaimOwners
	// leftovers are the claims of removed members that are deleted after a delay, and returned the
	// claims that are marked for deletion but stay.
	leftovers, returned []leftover
	// overrides are the differences of single members from the templates.
	overrides *identity.Overrides

	// supporting are the supporting objects.
	supporting *supportingObjects

	// history are the revisions of the set. update is the revision of its template, and current the
	// one that members have until an update reaches them.
	history         revisions
	current, update *revision
	collisions      int32
	// awaiting is a revision that another owner must give up before anything can be decided, nil if
	// there is none.
	awaiting *appsv1.ControllerRevision
	// endings are how often in a row the pods of members have ended.
	endings map[int]ending
	// unreached is the number of members that an update without a partition has yet to reach.
	unreached int
	// starting is how many members are about to become available, if the set limits that.
	// startingFor is how long the first of them still counts.
	starting    int
	startingFor time.Duration
	// isUpdateBroken is true if a member at the update revision is broken.
	isUpdateBroken bool
	// claimTemplates names the claim templates, if the set recreates members when they change.
	claimTemplates string
	// claimStates say, by ordinal, how the claims of members compare to their templates, if they
	// must match them.
	claimStates map[int][]claimState
	// unrendered is a member with a claim that cannot be compared with its template, because the
	// template cannot be rendered, nil if there is none. unrenderedBy is the error.
	unrendered   *member
	unrenderedBy *render.Error
	// stranded are the members whose pods are broken and outdated, and that no other rule replaces.
	stranded []member
	// rollout is the state of an update of which the status keeps a record, nil if it keeps none.
	rollout *rollout
	// unblocking is the member that is being replaced out of turn, nil if there is none.
	unblocking *member
}

// survey finds the facts of a world.
func survey(world World, reads *reader) *facts {
	_, suspended := v1.Held(world.Set)
	f := &facts{world: world, suspended: suspended, ordered: world.Set.Spec.PodManagementPolicy != v1.ParallelPodManagement,
		roster: identity.OrdinalsOf(world.Set), overrides: identity.OverridesWithin(world.Evaluation, world.Set),
		claims: make(map[string]*corev1.PersistentVolumeClaim, len(world.Claims))}
	for _, claim := range world.Claims {
		f.claims[claim.Name] = claim
	}
	selector, err := metav1.LabelSelectorAsSelector(world.Set.Spec.Selector)
	if err != nil {
		f.badSelector, selector = err, labels.Nothing()
	}
	if world.Set.Spec.VolumeClaimUpdate != nil {
		f.claimTemplates = identity.ClaimTemplates(world.Set)
	}
	f.sortMembers(selector)
	f.findOwnerChanges()
	f.findLeftovers()
	f.supporting = f.surveyObjects()
	f.findUpdateSequence()
	f.findRevisions(selector, reads)
	f.freezeRevisions()
	f.supporting.findRetired(f.current.name, f.update.name)
	f.countUnreached()
	f.findRollout()
	f.compareClaims()
	f.countStarting()
	f.findStranded()
	f.findUnblocking()
	f.countEndings()
	return f
}

// isFrozen reports whether the revisions of the set cannot be determined yet, so that its status
// keeps those that it names.
func (f *facts) isFrozen() bool { return f.suspended || f.awaiting != nil }

// requireSelector stops if the pods of the set cannot be distinguished from others.
func requireSelector(f *facts, d *draft) verdict {
	if f.badSelector != nil {
		d.stall(v1.ReasonInvalidSelector, "spec.selector cannot be used: %s", words.SanitizeText(f.badSelector.Error()))
		return stop
	}
	return proceed
}
