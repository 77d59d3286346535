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

// facts is what is so: a world, and what follows from it before anything is decided.
// Nothing in it changes after the survey.
type facts struct {
	world World
	// ordered is true for a set whose members wait for each other.
	ordered bool
	// held is true for a set for which nothing is done.
	held bool
	// badSelector says why the set's selector cannot be used, nil if it can.
	badSelector error

	// roster are the ordinals of the members that the user asks for. members are those of
	// them that have a pod, and the first of those that do not, in ascending order;
	// condemned are the pods that are not wanted, in descending order.
	roster    identity.Ordinals
	members   []member
	condemned []member
	// podNames are all pods by their names, nil until one is asked for.
	podNames map[string]*corev1.Pod
	// line are the wanted members in the order in which an update takes them, nil if that is
	// the one of apps/v1.
	line []member
	// adopt and release are the pods that are to become the set's, and those that are
	// not to be the set's any more.
	adopt   []member
	release []action.Target
	// available is the number of wanted members that serve somebody, carried that of the
	// set's pods by the revision that they run.
	available int
	carried   map[string]int
	claims    map[string]*corev1.PersistentVolumeClaim
	// ownerChanges are the changes of owners that the retention policy asks for, by the ordinals of
	// members. exposed are those of claims that could be deleted although they stay, by name.
	ownerChanges map[int][]action.SetClaimOwners
	exposed      []action.SetClaimOwners
	// leftovers are the claims of removed members that are deleted some time after that, and
	// returned those that are marked for it and are to stay.
	leftovers, returned []leftover
	// overrides are what single members are to have otherwise than the templates.
	overrides *identity.Overrides

	// supporting are the objects beside the pods.
	supporting *supportingObjects

	// history are the set's revisions. update is that of the present template, current
	// the one that members have until an update reaches them.
	history         revisions
	current, update *revision
	collisions      int32
	// awaiting is a revision that somebody else has to give up before anything can be
	// decided, nil if there is none.
	awaiting *appsv1.ControllerRevision
	// endings are how often in a row the pods of members have ended.
	endings map[int]ending
	// unreached is the number of members that an update without a partition has yet to
	// reach.
	unreached int
	// starting is how many members of a set that bounds it are on their way to become
	// available, startingFor how long the first of them still counts so.
	starting    int
	startingFor time.Duration
	// updateAils is true if a member at the update revision is broken.
	updateAils bool
	// claimTemplates names the claim templates, if members follow them.
	claimTemplates string
	// claimStates say how the claims of members, by ordinal, stand to their templates, if
	// they are to follow them.
	claimStates map[int][]claimState
	// unrendered is a member of which a claim cannot be compared with its template, because that
	// cannot be rendered, as unrenderedBy says; nil if there is none.
	unrendered   *member
	unrenderedBy *render.Error
	// stranded are the members whose pods are broken and not at the revision that they are
	// to have, and that no other rule replaces.
	stranded []member
	// rollout is what is known of an update of which the status keeps a record, nil if it
	// keeps none.
	rollout *rollout
	// unblocking is the member that is being replaced out of turn, nil if there is none.
	unblocking *member
}

// survey finds out what is so in a world.
func survey(world World, reads *reader) *facts {
	_, held := v1.Held(world.Set)
	f := &facts{world: world, held: held, ordered: world.Set.Spec.PodManagementPolicy != v1.ParallelPodManagement,
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
	f.lineUp()
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

// frozen reports whether it cannot be said yet which revisions are the set's, so that
// its status keeps those that it names.
func (f *facts) frozen() bool { return f.held || f.awaiting != nil }

// requireSelector stops where the set's pods cannot be told from others.
func requireSelector(f *facts, d *draft) verdict {
	if f.badSelector != nil {
		d.blocked(v1.ReasonInvalidSelector, "spec.selector cannot be used: %s", words.ForeignText(f.badSelector.Error()))
		return stop
	}
	return proceed
}
