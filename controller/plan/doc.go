// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package plan decides. Compute looks at a world (a set, its revisions, pods and
// claims, and the time) and says what to do about it, what the set's status is,
// and when to look again. It is a pure function: it has no client, no clock, no
// logger and no memory, and the same world always gives the same plan.
//
// The set wants the ordinals first, first+1, ... first+replicas-1. Every pod of
// the set is either the member of a wanted ordinal or condemned. The rules are
// applied in this order, and an ordered set (podManagementPolicy OrderedReady)
// stops at the first thing that it has to wait for:
//
//	revisions   record the template; a template seen before becomes the latest again
//	membership  adopt pods without a controller, release pods that no longer match
//	recreate    strategy Recreate only: remove old members, wait until all are gone
//	bring up    each wanted ordinal from the lowest: replace finished pods, create
//	            missing members, complete claims and labels
//	scale down  each condemned pod from the highest ordinal: remove it
//	update      strategy RollingUpdate only: remove pods of an old revision
//	            from the highest ordinal down to the partition
//	history     delete revisions that nobody runs beyond the limit, whatever else the
//	            host refuses
//
// Nothing at all is done for a set that is deleted or held, or as long as a set of the
// same name in another group has pods, or somebody else still has a revision that the
// set's pods run (hold.go). The status is true all the same.
//
// A member is created only when no pod of its name is left: replacing a pod means
// removing it in one plan and creating the member in a later one, after the
// removal has been observed to its end.
//
// What makes this hard is that the world is never finished: pods are terminating,
// claims belong to somebody else, names are taken. The answer is always the same:
// do not delete, do not create a second one, say why, and wait.
package plan
