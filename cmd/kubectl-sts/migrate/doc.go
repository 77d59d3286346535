// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package migrate moves a StatefulSet from apps/v1 to apps.statefulset.dev/v1, and
// back, without restarting a pod.
//
// A move is a row of steps. Which of them comes next is decided from what the cluster
// shows alone (next.go), so that a move that was interrupted is taken up where it is.
// What of a move has to be remembered stands in the hold annotation of our set
// (mark.go), which goes away when the move is complete. As long as it is there, our
// controller touches nothing.
//
// To ours: our set is created on hold; it gets the revisions that the status of the
// apps/v1 set names; claims are let go, so that no data hangs on an object that is
// about to be deleted; the apps/v1 set is deleted with its pods left alone; when the
// garbage collector has removed the last reference to it, the hold ends, and our
// controller adopts revisions, pods and claims.
//
// Back: the built-in controller knows no hold, so that it must not see a pod before it
// knows the revisions. Our set is put on hold; its revisions are let go, and the
// apps/v1 set is created. Its controller adopts the revisions, while the pods, which
// are not its own yet, are only in its way: it cannot create them, because they exist.
// When it has recognized the revision of the template, and got the other one by its
// status, claims are let go and our set is deleted with its pods left alone. The
// built-in controller adopts them as they become free. It does nothing for an update
// before it has them all: it fails at the first that is not its own.
package migrate
