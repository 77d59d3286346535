// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package damaged prevents one set whose stored value cannot be read from blocking all others.
// Without it, one such value makes every list fail, so that no watch cache and no informer ever
// becomes ready.
//
// The server must not omit such a set from lists either. The garbage collector of the host cluster
// watches sets. When one disappears from its list, it treats the set as deleted, and deletes the
// pods without another request. So the server returns a stand-in for a damaged set. It has the name
// and the UID under which the garbage collector knows the set, and nothing else that a client could
// act on (standin.go).
//
// Lists and watches show the stand-in. A request to read, update or delete the set by its name
// fails, with an error that names the etcd key and says what to do. The answer is never "not
// found", and the stand-in is never written (storage.go). Only one action is possible: to delete
// exactly that value, with the Kubernetes option for it. Before that, the pods, claims and
// revisions of the set in the host cluster are orphaned.
//
// Implementation: for each request to etcd, the context has the mode, which says how to handle a
// value that cannot be read (mode.go). The transformer knows the key, and puts the key and the mode
// in front of the value. The codec, which does not know the key, reads them there (envelope.go,
// codec.go). So each value is decoded once.
package damaged
