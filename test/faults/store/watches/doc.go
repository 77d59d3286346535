// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package watches compares the events of watches with the history of the storage. A Stream is what
// one client saw: a series of watch requests, each of which begins at the end of the previous one,
// like those of an informer.
//
// The storage and the filter of a watch alone determine its events (expected). Check compares the
// two by nine rules, one function each:
//
//	filtered      only objects that the client requested
//	bookmarkable  a bookmark comes after all events up to its revision, and before
//	              all others
//	ordered       revisions only grow within a request
//	unique        no event comes twice, whatever is reconnected
//	atomic        an event is one complete change of the storage
//	reliable      no event is missing between the first and the last of a request
//	resumable     a request begins with the first event after its revision
//	previous      a deletion shows the last version before it
//	created       an event says that an object was added only if the client could
//	              not see it before, and otherwise that it was modified
package watches
