// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package identity determines the members of a set and the objects of a member. Given the set and
// an ordinal, it names and builds the pod and the claims of the member. It also writes and reads
// the record of a template in a revision. All functions are pure. Names, labels and owner
// references are exactly those of apps/v1, except for our API group, so that a set can move between
// the two without restarting a pod.
package identity
