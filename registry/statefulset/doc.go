// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package statefulset is the way of a StatefulSet between a decoded request and
// etcd. The generic store does the reading and writing; this package says what is
// particular about a set:
//
//	storage.go         the store, and the endpoints it is served through
//	strategy.go        what the server fills in and guards when a set is written
//	status.go          the same for /status, which only the controller writes
//	scale.go           /scale: the set seen as an autoscaling/v1 Scale
//	plan.go            /plan: what the controller does, or would do, asked of a Planner
//	request.go         what requests about a set share: /replace and /rollout
//	replace.go         /replace: members that are to be replaced, asked of a Members
//	rollout.go         /rollout: decisions about an update
//	user_actions.go    who asked for what, as the status records it
//	validate*.go       which sets are refused, as pure functions, a file for each part of the spec
//	object_kinds.go    how many kinds of objects all sets together may describe
//	preflight/         what the host says of the pods and claims of a set that is written
//	warnings*.go       which sets are accepted with a warning
//	unknown.go         fields that the emulated version does not have
//	room.go            how much may be written to the store
//	trace.go           the span of a write links to the trace of what the controller does for it
//	errors.go          what users are told of what the store says
//	table.go           the columns that kubectl prints
//
// Rules that concern one field by itself (a minimum, immutability) are tags on
// the type in api/apps/v1, from which code is generated that the strategies call.
// A rule stands in one of the two places, never in both, so that an error is
// reported once.
package statefulset
