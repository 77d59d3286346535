// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides. Compute reads a world (a set, its revisions, pods and claims, and the
// time) and returns what to do about it, what the set's status is, and when to sync again. It is a
// pure function: it has no client, no clock, no logger and no memory, and the same world always
// gives the same plan. (It returns as data what it has read of revisions, and how often pods have
// ended.)
//
// A survey determines the state of the world: which pod is which member, and which revisions are
// the set's (facts). Then rules decide, one after the other, what to do about it (draft). The
// status and the time of the next sync follow from both.
//
// The set's roster lists the desired ordinals. Every pod of the set is either the member of a
// desired ordinal or surplus (condemned). The revision at which a member should be, and how its pod
// gets there, is its target (target.go). These are the rules in their order. An ordered set
// (podManagementPolicy OrderedReady) skips the remaining rules about members as soon as it has to
// wait for something:
//
//	reach       decide nothing; record which members the update does not reach, if a caller asks why
//	            members are not changed (whynot.go)
//	selector    stop if the set's selector cannot be used
//	hold        stop if the set is being deleted or is suspended
//	name        stop while a set of the same name in another group has pods
//	handover    stop while another controller owns revisions that the set's pods run
//	rollout     report an update that has failed, is rolled back, or cannot be rolled back; the
//	            survey determines which members an update with steps reaches (release.go, steps.go)
//	revisions   record the template; a template seen before becomes the latest again
//	membership  adopt pods without a controller, release pods that no longer match
//	claim owners  give all claims the owners that the retention policy requires, before any pod is
//	            removed
//	recreate    strategy Recreate only: remove outdated members, wait until all are gone
//	claims      change claims to match their templates, if requested and as far as that is possible
//	            in place
//	in place    continue with pods whose containers are being restarted for an update
//	unblock     strategy RollingUpdate only, if requested: replace a member that is not ready and
//	            not at its target revision
//	asked       in an ordered set, remove broken pods whose replacement a user has requested
//	bring up    for each desired ordinal from the lowest: replace finished pods, create missing
//	            members, complete claims and labels
//	scale down  remove surplus pods from the highest ordinal; a Parallel set can limit how many
//	            members start and terminate at a time
//	update      strategy RollingUpdate only: remove outdated pods from the highest ordinal down to
//	            the partition, or in the order that the set specifies; change them in place
//	            instead, if requested and possible
//	replace     remove the other pods whose replacement a user has requested
//	gates       withdraw requests to gates for what is no longer going to happen
//	drain       put members into service whose containers are not about to be restarted
//	parameters  update REPLICAS, the number of members, for pods that use it
//	anchor      create the owner of the objects that are deleted with the set
//	objects     create the objects of the set and of members that have a pod, and change objects
//	            that differ from their templates
//	owners      have the objects of removed members deleted with the set, or no longer
//	secrets     record at claims which generated Secrets their members use
//	shape       report members that keep the claims of earlier templates, or an earlier override
//	service     report members that have the DNS name of an earlier service
//	reclaim     delete the claims of members that were removed long enough ago, if requested
//	retention   delete the objects of members, and of templates, that were removed long enough ago,
//	            if requested
//	history     delete revisions beyond the limit that no pod runs, whatever else the cluster refuses
//
// The status is true even where nothing is done.
//
// A member is created only when no pod of its name is left: replacing a pod means removing it in
// one plan and creating the member in a later one, after a sync has observed that the pod is gone.
//
// The difficulty is that the world is never in a final state: pods are terminating, claims belong
// to another owner, names are taken. The answer is always the same: do not delete, do not create a
// second one, report why, and wait.
package plan
