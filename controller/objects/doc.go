// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package objects knows the objects that templates of sets describe, which may be of any kind. It writes nothing:
// the executor of the controller does, and reports what it wrote.
//
//   - A Watcher (watcher.go) watches the metadata of each kind (kinds.go, kind.go, discovery.go) in each namespace
//     (watch.go) while a set describes objects of it. Observe completes what the planner may see of a set.
//   - What an object gives is read when a pod waits for it (outputs.go), and so is an object that has a name which
//     one of the set is to have (taken.go).
//   - A Memory (memory.go) is what is remembered of the objects of one set from one sync to the next.
//   - Who manages which fields of an object is read in fields.go, and how many there are is shown by a Gauge
//     (gauge.go).
package objects
