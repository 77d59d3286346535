// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controller keeps the pods, claims and revisions of every set in the
// host cluster as the set wants them.
//
//	watch -> queue -> sync = observe -> plan.Compute -> execute -> one status write -> events
//
// A replica that has won the lease serves a term (term.go). A term begins with
// empty caches, fills them with a fresh list (informers.go), and only then starts
// to decide; nothing that an earlier term saw is used.
//
// What is watched and written stands in one table (kinds.go), a row for each kind of
// object: how it is selected and found, what the caches keep of it, which is what the
// planner reads and no more, which sets it concerns, and what the host can be asked
// to do with it. A kind that is added is a row; the rest is the same for all. Of claims
// and revisions that no set wants, of which a cluster may have many, the caches keep
// stubs (stub.go); a set that comes later and wants them has them read (unread.go).
//
// Beside the table, two things are watched while something asks for them, and nothing
// but that waits for them. Objects that sets describe may be of any kind: objects/ watches
// them, and remembers what was written of them. How they are created, applied and deleted is
// in execute_objects.go, execute_generated.go and execute_retention.go. Quotas are watched from
// the first refusal that is theirs (quotas.go). What not every host can do, or lets the
// controller do, is asked when it matters to a set for the first time (abilities.go).
//
// An event of a watched object becomes the keys of the sets that it concerns
// (handlers.go). A worker takes a key and syncs that set (sync.go): it gathers what the
// planner may see (view.go, which previews share; missing_revisions.go and unread.go read
// what the caches do not show), lets the planner decide, carries the plan out chain by
// chain (execute.go, chains.go and their siblings; every write goes through write.go),
// writes the set's status once (status.go), and tells what it did (events.go). What has to
// be known at its next sync is in one memo (memory.go), which is dropped when the set is
// gone. A sync whose turn is over (turns.go) ends without a worker; writes share slots
// (slots.go), and are begun slowly after a refusal (pace.go).
//
// Three rules keep a stale view from doing harm:
//
//   - A set is not decided on before the caches show what was written for it
//     before (writes.go). The event that shows it wakes the set.
//   - Every write but a create names the UID and the resource version of the
//     object that was decided on (host.go). The answer "it has changed" means look
//     again, never try again. A create relies on names being unique.
//   - Every write asks first whether the term still holds (lease.go), by the
//     lease's own duration, so that a process that was stopped and wakes up late
//     writes nothing.
//
// What the controller and its rooms share to read the host is in hostread/.
//
// When the context of Run ends, no new write begins, those under way are waited
// for, and then the lease is given back.
package controller
