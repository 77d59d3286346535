// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides. Compute looks at a world (a set, its revisions, pods and
// claims, and the time) and says what to do about it, what the set's status is,
// and when to look again. It is a pure function: it has no client, no clock, no
// logger and no memory, and the same world always gives the same plan. (What it has
// read of revisions, and how often pods have ended, it hands on as data.)
//
// A survey finds out what is so: which pod is which member, which revisions are the
// set's (facts). Then rules say, one after the other, what to do about it (draft). The
// status and the time of the next look are read off the two.
//
// The set wants the ordinals of its roster. Every pod of the set is either the member
// of a wanted ordinal or condemned. At which revision a member is to be, and how its pod
// gets there, is its target (target.go). These are the rules in their order; an ordered
// set (podManagementPolicy OrderedReady) leaves out the next of them at the first thing
// that it has to wait for:
//
//	selector    a set whose selector cannot be used is left alone
//	hold        so is one that is deleted or held,
//	name        one whose name a set of another group has too, as long as that has pods,
//	handover    and one of whose pods' revisions somebody else has not yet given up
//	rollout     tell of an update that has failed, is rolled back, or cannot be; whom one
//	            reaches that goes by steps is part of the survey (release.go, steps.go)
//	revisions   record the template; a template seen before becomes the latest again
//	membership  adopt pods without a controller, release pods that no longer match
//	claim owners  give all claims the owners that the retention policy asks for, before any
//	            pod is removed
//	recreate    strategy Recreate only: remove old members, wait until all are gone
//	claims      change claims after their templates, if asked for and as far as that is
//	            possible in place
//	in place    go on with pods whose containers are being restarted for an update
//	unblock     strategy RollingUpdate only, if asked for: replace a member that is not
//	            ready and not at the revision that it is to have
//	asked       in an ordered set, remove broken pods that somebody has asked to have replaced
//	bring up    each wanted ordinal from the lowest: replace finished pods, create
//	            missing members, complete claims and labels
//	scale down  each condemned pod from the highest ordinal: remove it; of a Parallel set
//	            that asks for it, only so many members start, and go, at a time
//	update      strategy RollingUpdate only: remove pods of an old revision
//	            from the highest ordinal down to the partition, or in the order that
//	            the set asks for; change them instead, if asked for and possible
//	replace     remove the other pods that somebody has asked to have replaced
//	gates       withdraw what gates were asked and is not to happen any more
//	drain       put members into service whose containers are not about to be restarted
//	parameters  tell members that name REPLICAS how many there are now
//	anchor      make what those objects belong to that are deleted with the set
//	objects     make the objects of the set and of members that have a pod, and change those
//	            that are not as their templates describe
//	owners      have objects of removed members be deleted with the set, or not any more
//	secrets     note at claims which drawn Secrets their members were given
//	shape       tell of members that keep the claims of earlier templates, or an earlier
//	            override
//	service     tell of members that have the DNS name of an earlier service
//	reclaim     delete the claims of members that were removed long enough ago, if asked for
//	retention   delete the objects of members, and of templates, that were removed long
//	            enough ago, if asked for
//	history     delete revisions that nobody runs beyond the limit, whatever else the
//	            host refuses
//
// The status is true even where nothing is done.
//
// A member is created only when no pod of its name is left: replacing a pod means
// removing it in one plan and creating the member in a later one, after the
// removal has been observed to its end.
//
// What makes this hard is that the world is never finished: pods are terminating,
// claims belong to somebody else, names are taken. The answer is always the same:
// do not delete, do not create a second one, say why, and wait.
package plan
