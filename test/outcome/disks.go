// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package outcome

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// disks is the oracle for the two tables of docs/claims.md, "Claims of members that were removed":
// which claims stay and which are deleted when members are removed, replaced or lost, and when the
// set is deleted.
type disks struct {
	claims map[types.UID]*disk
	// withSet is for how many clean syncs the policy for the deletion of the set has been
	// unchanged.
	withSet     int
	whenDeleted v1.PersistentVolumeClaimRetentionPolicyType
	setGone     bool
}

// disk is what the oracle knows about one claim.
type disk struct {
	name   string
	member int
	// set is the set at the time when the claim was last seen.
	set *v1.StatefulSet
	// mayGo is true while some row of the tables allows the deletion of the claim.
	mayGo bool
	// surplus is true if the controller has seen the member with a pod and not desired, so that the
	// claim is deleted with the pod, and mustGo if the claim must be deleted when the cluster is at
	// rest.
	surplus, mustGo bool
	// withSet counts the clean syncs in which the member had a pod, and the claim had to be deleted
	// with the set.
	withSet int
	// stays counts the clean syncs that the controller has had since the claim must stay.
	stays int
	// removed is the time since which the member is neither desired nor has a pod, zero if it is or
	// has.
	removed time.Time
	// ended is the actor who removed the last pod of the member.
	ended Actor
	// foreign is true for a claim for which the set is not responsible.
	foreign bool
}

func newDisks() *disks { return &disks{claims: map[types.UID]*disk{}} }

func (*disks) name() string { return "disk" }

func (o *disks) changed(j *Judge, before, after *Scene, by Actor) {
	o.seeSet(before, after)
	for _, name := range slices.Sorted(maps.Keys(after.Claims)) {
		o.seeClaim(after, after.Claims[name])
	}
	if before == nil {
		return
	}
	o.seeRemovals(before, after, by)
	for _, name := range slices.Sorted(maps.Keys(before.Claims)) {
		was, now := before.Claims[name], after.Claims[name]
		goes := now == nil || now.UID != was.UID || now.DeletionTimestamp != nil
		if d := o.claims[was.UID]; was.DeletionTimestamp == nil && goes && d != nil {
			o.judge(j, before, after, d, was, by)
		}
	}
}

// judge decides whether the deletion of a claim was allowed.
func (o *disks) judge(j *Judge, before, after *Scene, d *disk, claim *corev1.PersistentVolumeClaim, by Actor) {
	set := before.Set
	if set == nil {
		set = after.Set
	}
	switch {
	case by == User, d.foreign, d.mayGo, set != nil && mentions(set, claim.Name):
	case by != Cluster && o.isDue(after, d): // even if the controller's view is outdated otherwise
	default:
		j.broken(o, "claim %s was deleted %s: its owners were %v", d.name, d.circumstances(after, by), owners(claim))
	}
}

// circumstances describes why a claim may have been deleted.
func (d *disk) circumstances(now *Scene, by Actor) string {
	switch {
	case by == Controller || by == Outdated:
		return "by the controller"
	case now.Set == nil && !hasTemplate(d.set, claimTemplate(d.set, d.name)):
		return "with the set, although whenDeleted is Retain, and its template had been removed"
	case now.Set == nil && !d.removed.IsZero():
		return "with the set, although whenDeleted is Retain, and its member had been removed"
	case now.Set == nil:
		return "with the set, although whenDeleted is Retain, and its member was desired"
	case !isDesired(now.Set, d.member):
		return "with its pod, which was removed, although whenScaled is Retain"
	case d.ended == Controller:
		return "with its pod, which the controller removed, although the member stays"
	default:
		return "with its pod, which was lost, although the member stays"
	}
}

// seeRemovals records who removed the pods of members. If the controller removes a pod that will be
// recreated, it must keep the claims at once, because it knows that.
func (o *disks) seeRemovals(before, after *Scene, by Actor) {
	for _, claim := range before.Claims {
		d := o.claims[claim.UID]
		if d == nil || after.Set == nil || before.isDoomed(claim) {
			continue
		}
		n, _ := member(after.Set, claim.Name)
		was, now := before.podOf(n), after.podOf(n)
		if was == nil || was.DeletionTimestamp != nil || now != nil && now.UID == was.UID && now.DeletionTimestamp == nil {
			continue
		}
		if d.ended = by; by == Controller && !o.removes(after.Set, n) {
			d.mayGo = false
		}
	}
}

// removes reports whether a set deletes the claims of a member as soon as its pod is deleted.
func (o *disks) removes(set *v1.StatefulSet, n int) bool {
	policy := policyOf(set)
	return !isDesired(set, n) && policy.WhenScaled == v1.DeletePersistentVolumeClaimRetentionPolicyType && policy.ScaledAfterSeconds == nil
}

// isDue reports whether a claim may be deleted because its member was removed long enough ago.
func (o *disks) isDue(now *Scene, d *disk) bool {
	policy := policyOf(now.Set)
	if d.removed.IsZero() || policy.WhenScaled != v1.DeletePersistentVolumeClaimRetentionPolicyType || policy.ScaledAfterSeconds == nil {
		return false
	}
	return now.Now.Sub(d.removed) >= time.Duration(*policy.ScaledAfterSeconds)*time.Second
}

// seeSet follows the changes of the set.
func (o *disks) seeSet(before, after *Scene) {
	var was *v1.StatefulSet
	if before != nil {
		was = before.Set
	}
	set := after.Set
	gone := was != nil && (set == nil || set.UID != was.UID)
	if gone || set != nil && set.DeletionTimestamp != nil {
		o.setGone = true
		if o.whenDeleted == v1.DeletePersistentVolumeClaimRetentionPolicyType || o.withSet < enoughSyncs {
			for _, d := range o.claims {
				d.mayGo = true
			}
		}
	}
	if set == nil || set.DeletionTimestamp != nil {
		return
	}
	if policy := policyOf(set).WhenDeleted; gone || was == nil || policy != o.whenDeleted {
		o.whenDeleted, o.withSet, o.setGone = policy, 0, false
	}
}

// seeClaim follows what may and must happen to a claim.
func (o *disks) seeClaim(now *Scene, claim *corev1.PersistentVolumeClaim) {
	if now.Set == nil || now.Set.DeletionTimestamp != nil {
		return
	}
	n, is := member(now.Set, claim.Name)
	if !is {
		return
	}
	d := o.claims[claim.UID]
	if d == nil {
		d = &disk{name: claim.Name, member: n}
		o.claims[claim.UID] = d
	}
	d.set = now.Set
	d.foreign = d.foreign || isForeign(now.Set, claim)
	pod, wanted := now.podOf(n), isDesired(now.Set, n)
	switch {
	case pod != nil:
		d.removed = time.Time{}
	case !wanted && d.removed.IsZero():
		d.removed = now.Now
	}
	if o.removes(now.Set, n) {
		d.mayGo, d.stays = true, 0
		d.mustGo = d.surplus && pod == nil && hasTemplate(now.Set, claimTemplate(now.Set, claim.Name))
		return
	}
	d.surplus, d.mustGo = false, false
}

// synced counts the opportunities that the controller has had to make a claim stay.
func (o *disks) synced(_ *Judge, now *Scene, sync Sync) { //nolint:gocyclo // each condition is one reason to say nothing
	if !sync.Clean || !works(now.Set) {
		return
	}
	o.withSet++
	for _, claim := range now.Claims {
		d := o.claims[claim.UID]
		if d == nil || claim.DeletionTimestamp != nil {
			continue
		}
		n, _ := member(now.Set, claim.Name)
		pod, removes := now.podOf(n), o.removes(now.Set, n)
		if isDesired(now.Set, n) {
			d.removed = time.Time{}
		}
		d.surplus = (d.surplus || removes && pod != nil) && hasTemplate(now.Set, claimTemplate(now.Set, claim.Name))
		switch {
		case policyOf(now.Set).WhenDeleted != v1.DeletePersistentVolumeClaimRetentionPolicyType:
			d.withSet = 0
		case pod != nil && hasTemplate(now.Set, claimTemplate(now.Set, claim.Name)):
			d.withSet++
		}
		if removes || pod == nil || pod.DeletionTimestamp != nil || now.isDoomed(claim) {
			continue
		}
		if d.stays++; d.stays >= enoughSyncs {
			d.mayGo = false
		}
	}
}

// rested judges which claims still exist.
func (o *disks) rested(j *Judge, now *Scene) {
	for _, name := range slices.Sorted(maps.Keys(now.Claims)) {
		claim := now.Claims[name]
		d := o.claims[claim.UID]
		if d == nil || d.foreign || claim.DeletionTimestamp != nil {
			continue
		}
		switch {
		case works(now.Set) && d.mustGo && !mentions(now.Set, claim.Name):
			j.broken(o, "claim %s stays, although its member is removed and whenScaled is Delete: its owners are %v", name, owners(claim))
		case now.Set == nil && d.withSet >= enoughSyncs && o.goesWithSet() && hasTemplate(d.set, claimTemplate(d.set, name)):
			j.broken(o, "claim %s stays, although the set is deleted and whenDeleted is Delete: its owners are %v", name, owners(claim))
		}
	}
}

// goesWithSet reports whether all claims must be deleted with the set.
func (o *disks) goesWithSet() bool {
	return o.setGone && o.whenDeleted == v1.DeletePersistentVolumeClaimRetentionPolicyType && o.withSet >= enoughSyncs
}

// isForeign reports whether an object other than the set or its pods owns a claim.
func isForeign(set *v1.StatefulSet, claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		_, pod := ordinal(set, ref.Name)
		return (ref.Kind != "StatefulSet" || ref.Name != set.Name) && (ref.Kind != "Pod" || !pod)
	})
}

// isDoomed reports whether the pods that own a claim are gone, so that the garbage collector may
// delete the claim at any moment.
func (s *Scene) isDoomed(claim *corev1.PersistentVolumeClaim) bool {
	exists := func(ref metav1.OwnerReference) bool {
		pod := s.Pods[ref.Name]
		return ref.Kind != "Pod" || pod != nil && pod.UID == ref.UID
	}
	return len(claim.OwnerReferences) > 0 && !slices.ContainsFunc(claim.OwnerReferences, exists)
}

func owners(claim *corev1.PersistentVolumeClaim) (names []string) {
	for _, ref := range claim.OwnerReferences {
		names = append(names, ref.Kind+"/"+ref.Name)
	}
	return names
}

// policyOf returns the retention policy of a set, with the default Retain.
func policyOf(set *v1.StatefulSet) v1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	policy := v1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	if set != nil && set.Spec.PersistentVolumeClaimRetentionPolicy != nil {
		policy = *set.Spec.PersistentVolumeClaimRetentionPolicy
	}
	if policy.WhenDeleted == "" {
		policy.WhenDeleted = v1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	if policy.WhenScaled == "" {
		policy.WhenScaled = v1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	return policy
}
