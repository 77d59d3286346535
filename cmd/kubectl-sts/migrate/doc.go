// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package migrate moves a StatefulSet from apps/v1 to apps.statefulset.dev/v1, and back, without
// restarting a pod.
//
// A move is a sequence of steps. The next step depends only on the state of the cluster (next.go),
// so an interrupted move continues where it stopped. The state of the move itself is in the hold
// annotation of our set (mark.go), which the last step removes. While the annotation exists, our
// controller changes nothing.
//
// To our group: The move creates our set suspended, and sets the revisions that the status of the
// apps/v1 set names. It releases the claims, so that no data depends on an object that is about to
// be deleted. It deletes the apps/v1 set with orphan propagation. When the garbage collector has
// removed the last reference to that set, the move ends the hold, and our controller adopts
// revisions, pods and claims.
//
// Back: The built-in controller has no hold, so it must not adopt a pod before it has the
// revisions. The move suspends our set, releases its revisions, and creates the apps/v1 set. The
// built-in controller adopts the revisions. It cannot change the pods, which our set still owns,
// and it cannot create pods, because they exist. When it has recognized the revision of the
// template, the move sets the other revision in the status, releases the claims, and deletes our
// set with orphan propagation. The built-in controller adopts the pods as they become free. It does
// not continue an update before it has adopted all pods, because it fails at the first pod that it
// does not own.
package migrate
