// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package statefulset is the path of a StatefulSet between a decoded request and etcd. The generic
// store reads and writes; this package contains everything that is specific to a set:
//
//	storage.go         the store, and the endpoints it is served through
//	strategy.go        what the server sets and protects when a set is written
//	status.go          the same for /status, which only the controller writes
//	scale.go           /scale: the set as an autoscaling/v1 Scale
//	plan.go            /plan: what the controller does, or would do, from a Planner
//	request.go         the common part of requests about a set: /replace and /rollout
//	replace.go         /replace: requests to replace members, with a Members
//	rollout.go         /rollout: promotions and aborts of an update
//	user_actions.go    which user requested what, as the status records it
//	validate*.go       which sets are rejected, as pure functions, a file for each part of the spec
//	object_kinds.go    the maximum number of kinds of objects of all sets together
//	preflight/         dry runs of the pods and claims of a set on the host cluster
//	warnings*.go       which sets are accepted with a warning
//	unknown.go         fields that the emulated version does not have
//	room.go            how much can be written to the store
//	trace.go           the link from the span of a write to the trace of the controller's work for it
//	errors.go          errors of the store, rewritten for users
//	table.go           the columns that kubectl prints
//
// Rules for a single field (a minimum, immutability) are tags of the type in api/apps/v1. The
// strategies call the code that is generated from them. Each rule is in one of the two places only,
// so that each error is reported once.
package statefulset
