// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package migrate moves sets between apps/v1 and our API on a local cluster, in every state that a
// set can have, with interruptions after every step, and checks that afterwards all pods, claims
// and revisions are the same. The tests have the build tag migrate; make test-migrate runs them.
// With -test.short, not every step is interrupted.
package migrate
