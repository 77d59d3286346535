// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package watches judges what watches have told, against what the storage has gone
// through. A Stream is what one client saw: a series of watch requests, each of
// which begins where the one before it has ended, as an informer makes them.
//
// What a watch has to tell follows from the storage and the watch's filter alone
// (expected). Check compares the two by nine rules, one function each:
//
//	filtered      only objects that the client asked for
//	bookmarkable  a bookmark comes after all events up to its revision, and before
//	              all others
//	ordered       revisions only grow within a request
//	unique        no event comes twice, whatever is reconnected
//	atomic        an event is one change of the storage, whole
//	reliable      no event is missing between the first and the last of a request
//	resumable     a request begins with the first event after its revision
//	previous      what a deletion shows is what was there before it
//	created       an event says that an object was added only if the client could
//	              not see it before, and otherwise that it was modified
package watches
