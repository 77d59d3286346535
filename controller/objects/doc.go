// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package objects watches and remembers the objects that templates of sets describe, which may be
// of any kind. It writes nothing: the executor of the controller writes objects, and reports its
// writes.
//
//   - A Watcher (watcher.go) watches the metadata of each kind (kinds.go, kind.go, discovery.go) in
//     each namespace (watch.go) while a set describes objects of it. Observe adds the objects of a
//     set to what the planner may see.
//   - The watcher reads what an object provides when a pod waits for it (outputs.go). It also reads
//     objects that use a name that an object of the set needs (taken.go).
//   - A Memory (memory.go) has what is remembered of the objects of one set from one sync to the
//     next.
//   - Code in fields.go reads who manages which fields of an object. A Gauge (gauge.go) shows how
//     many objects there are.
package objects
