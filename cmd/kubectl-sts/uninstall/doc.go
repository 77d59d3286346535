// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package uninstall removes an installation in the one order in which no pod of a set is in
// danger. The cluster's garbage collector deletes what belongs to a set that it is told does
// not exist; without a registration, the cluster itself says that of every set. So the sets
// end first, then the registration, when nothing belongs to a set any more, and the server
// last, because a registration without server keeps every namespace from being deleted.
//
// Everything is looked at (look.go, rights.go) before anything is changed. Each step sees for
// itself what is left to do, so a run that was interrupted is completed by another one.
package uninstall
