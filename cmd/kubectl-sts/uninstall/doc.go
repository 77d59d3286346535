// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package uninstall removes an installation in the only order that is safe for the pods of sets.
// The garbage collector of the cluster deletes the dependents of an owner that does not exist.
// Without a registration, the cluster itself answers that no set exists. So the command removes the
// sets first, then the registration, when nothing belongs to a set any more, and then the server.
// The server comes last, because a registration without a server prevents the deletion of every
// namespace.
//
// The command checks everything (look.go, rights.go) before it changes anything. Each step finds
// out by itself what is left to do, so another run completes an interrupted one.
package uninstall
