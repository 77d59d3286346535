// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package migrate moves sets between apps/v1 and our API on a local cluster, in every
// state that a set can be in, with interruptions after every step, and checks that no
// pod, claim or revision is another one afterwards. The tests carry the build tag migrate;
// make test-migrate runs them. With -test.short not every step is interrupted.
package migrate
