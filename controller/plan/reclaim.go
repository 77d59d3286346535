// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// mostReclaimed is how many claims one plan deletes.
const mostReclaimed = 16

// leftover is a claim of a member that is not desired and has no pod.
type leftover struct {
	claim   *corev1.PersistentVolumeClaim
	ordinal int
	// retired is since when the member is removed, according to the claim.
	retired retirement
}

// reclaimDelay is how long the claims of removed members are kept. It is false if the set does not
// delete them after a delay.
func (f *facts) reclaimDelay() (time.Duration, bool) {
	policy := f.retention()
	if policy.WhenScaled != v1.DeletePersistentVolumeClaimRetentionPolicyType || policy.ScaledAfterSeconds == nil {
		return 0, false
	}
	return v1.Seconds(*policy.ScaledAfterSeconds), true
}

// findLeftovers finds the claims that are deleted after a delay, those of the highest ordinal
// first, and claims that are marked for deletion but stay.
func (f *facts) findLeftovers() {
	_, reclaims := f.reclaimDelay()
	if !reclaims && !slices.ContainsFunc(f.world.Claims, isRetired) {
		return
	}
	for _, claim := range f.world.Claims {
		template, ordinal, ours := identity.ParseClaimName(claim.Name, f.world.Set.Name, f.world.Set.Spec.VolumeClaimTemplates)
		switch left := (leftover{claim, ordinal, retirementOf(claim)}); {
		case !ours, claim.DeletionTimestamp != nil:
		case !reclaims, f.roster.Contains(ordinal), f.podNamed(identity.PodName(f.world.Set.Name, ordinal)) != nil: // of any controller
			if isRetired(claim) {
				f.returned = append(f.returned, left)
			}
		case f.world.Rivals[template] == "" && f.isReclaimable(left):
			f.leftovers = append(f.leftovers, left)
		}
	}
	highestFirst := func(a, b leftover) int {
		return cmp.Or(cmp.Compare(b.ordinal, a.ordinal), strings.Compare(a.claim.Name, b.claim.Name))
	}
	slices.SortFunc(f.leftovers, highestFirst)
	slices.SortFunc(f.returned, highestFirst)
}

// isReclaimable reports whether the set may delete a claim: a pod of this very set was the last to
// mount it, and no one else controls it.
func (f *facts) isReclaimable(left leftover) bool {
	m := member{ordinal: left.ordinal}
	return left.claim.Annotations[v1.OwnerAnnotation] == identity.OwnerMark(f.world.Set) &&
		!f.ofFormerOwner(left.claim, m) && !f.hasOtherController(left.claim, m)
}

func isRetired(claim *corev1.PersistentVolumeClaim) bool {
	_, is := claim.Annotations[v1.RetiredAtAnnotation]
	return is
}

// lacksMark reports whether the owner annotation of a claim must be set: a pod of its member mounts
// the claim, and the claim is deleted some time after the member is removed.
func (f *facts) lacksMark(claim *corev1.PersistentVolumeClaim, m member) bool {
	_, reclaims := f.reclaimDelay()
	return reclaims && m.pod != nil && claim.DeletionTimestamp == nil &&
		claim.Annotations[v1.OwnerAnnotation] != identity.OwnerMark(f.world.Set) &&
		mountsClaim(m.pod, claim.Name) && !f.ofFormerOwner(claim, m) && !f.hasOtherController(claim, m)
}

func mountsClaim(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// reclaim deletes the claims of members that were removed long enough ago, if the set requests
// that. The claims themselves record since when their member is removed, and a claim is deleted
// only in the version in which the record was read. Before a member comes back, its record is
// removed, so a controller that does not know about that yet deletes nothing.
func reclaim(f *facts, d *draft) verdict {
	for _, left := range f.returned {
		f.markLeftover(d, left, action.ClaimKept, map[string]*string{v1.RetiredAtAnnotation: nil})
	}
	delay, _ := f.reclaimDelay()
	deleted := 0
	for _, left := range f.leftovers {
		due := left.retired.since.Add(delay)
		switch {
		case left.retired.since.IsZero():
			// Rounded up, so that a claim is never kept for less time than the set says.
			since := f.world.Now.Add(time.Second - 1).Truncate(time.Second).UTC()
			f.markLeftover(d, left, action.ClaimRetired, map[string]*string{v1.RetiredAtAnnotation: new(since.Format(time.RFC3339))})
		case f.world.Now.Before(due):
			d.requeueAfter(due.Sub(f.world.Now))
		case left.retired.proven && deleted < mostReclaimed && !f.changesOwners(left.claim):
			deleted++
			d.finally = append(d.finally,
				action.Chain{action.DeleteClaim{Ordinal: left.ordinal, Claim: action.Exact(left.claim), Retired: left.retired.since, Due: due}})
		}
	}
	return proceed
}

// markLeftover plans to change an annotation of a claim.
func (f *facts) markLeftover(d *draft, left leftover, as action.ClaimMark, annotations map[string]*string) {
	if len(d.marked) == mostChanged || d.changed[left.claim.Name] || f.changesOwners(left.claim) {
		return
	}
	if d.marked == nil {
		d.marked = map[string]bool{}
	}
	d.marked[left.claim.Name] = true
	d.finally = append(d.finally,
		action.Chain{action.MarkClaim{Ordinal: left.ordinal, Claim: action.Exact(left.claim), As: as, Annotations: annotations}})
}

// reclaims report when the claims of which members are deleted, with those that are due first at
// the front.
func reclaims(f *facts) (all []v1.Reclaim) {
	delay, _ := f.reclaimDelay()
	for _, left := range slices.Backward(f.leftovers) {
		ordinal, last := int32(left.ordinal), len(all)-1 //nolint:gosec // a name has no larger one
		next := v1.Reclaim{First: ordinal, DueTime: metav1.NewTime(left.retired.since.Add(delay).UTC())}
		if !left.retired.proven {
			next.Message = fmt.Sprintf("claim %s is kept: %s", left.claim.Name, unproven)
		}
		joins := last >= 0 && all[last].DueTime.Equal(&next.DueTime) && all[last].Message == next.Message
		switch {
		case left.retired.since.IsZero():
		case joins && all[last].End() == left.ordinal-1:
			all[last].Last = &ordinal
		case joins && all[last].End() == left.ordinal:
		default:
			all = append(all, next)
		}
	}
	slices.SortStableFunc(all, func(a, b v1.Reclaim) int { return a.DueTime.Compare(b.DueTime.Time) })
	return all[:min(len(all), v1.MostReclaims)]
}
