// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controller keeps the pods, claims and revisions in the host cluster as the StatefulSets
// (sets) describe them.
//
//	watch -> queue -> sync = observe -> plan.Compute -> execute -> one status write -> events
//
// A replica that has won the lease serves a term (term.go). A term begins with empty caches, fills
// them with a fresh list (informers.go), and only then starts to decide. It uses nothing that an
// earlier term saw.
//
// One table (kinds.go) has a row for each kind of object that the controller watches and writes.
// The row says how objects are selected and found, which sets an object concerns, and which
// requests the controller may send. It also says what the caches keep of an object: what the
// planner reads, and no more. A new kind needs only a row; the rest is the same for all. A cluster
// may have many claims and revisions that no set uses. The caches keep stubs of them (stub.go), and
// a set that needs them later reads them (unread.go).
//
// Two other sorts of objects are watched only while something needs them, and nothing else waits
// for them. The first are the objects that sets describe, of any kind. Package objects watches
// them, and remembers what was written to them. They are created, applied and deleted in
// execute_objects.go, execute_generated.go and execute_retention.go. The second are quotas, which
// are watched from the first refusal by a quota (quotas.go). The controller asks about features
// that not every cluster has, or permits, when a set first needs them (abilities.go).
//
// An event of a watched object is resolved to the keys of the sets that it concerns (handlers.go).
// A worker takes a key and syncs that set (sync.go):
//
//   - It gathers what the planner may see (view.go, which previews share; missing_revisions.go and
//     unread.go read what the caches lack), and lets the planner decide.
//   - It carries out the plan chain by chain (execute.go, chains.go and the other execute_ files).
//     Every write goes through write.go.
//   - It writes the set's status once (status.go), and reports what it did as events (events.go).
//
// What the next sync of the set must know is in one setState (memory.go), which is dropped with the
// set. A sync whose turn is over (turns.go) ends without a worker. All writes share slots
// (slots.go). After a refusal, the next writes begin slowly (pace.go).
//
// Three rules prevent damage by a stale view:
//
//   - The controller does not decide about a set before the caches show its earlier writes for
//     the set (writes.go). The event that shows the last of them wakes the set.
//   - Every write except a create names the UID and the resource version of the object that was
//     decided on (host.go). If the cluster answers that the object has changed, the controller
//     syncs the set again and does not retry the write. A create relies on unique names.
//   - Every write first checks whether the term still holds (lease.go), by the duration of the
//     lease itself. A process that was stopped and resumes too late therefore writes nothing.
//
// The controller and package objects share the code in hostread/ to read the cluster.
//
// When the context of Run ends, no new write begins. The controller waits for running writes, and
// then releases the lease.
package controller
