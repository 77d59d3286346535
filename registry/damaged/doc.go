// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package damaged keeps one set whose stored value cannot be read from stopping all
// others. Without it, one such value fails every list, so that no watch cache and no
// informer ever fills.
//
// A set must not simply be left out of a list either. The host's garbage collector
// watches sets; when one disappears from its list, it takes the set for deleted, and
// deletes the pods without asking again. So in the place of a damaged set there is a
// stand-in, with the name and the UID under which the garbage collector knows the set,
// and with nothing that anybody could act on (standin.go).
//
// Lists and watches show the stand-in. To read, update or delete the set by its name
// fails with an error that names the etcd key and says what to do: it is never answered
// with "not found", and the stand-in is never written (storage.go). What can be done is
// to delete exactly that value, with the option that Kubernetes has for it; before that,
// the set's pods, claims and revisions in the host are orphaned.
//
// How it is done: for each request to etcd, mode.go says in the context what is to
// happen to a value that cannot be read. The transformer, which is told the key, puts
// key and mode in front of the value, and the codec, which is not told the key, finds
// them there (envelope.go, codec.go). Thus each value is decoded once.
package damaged
