// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package history judges what clients of a server were told while its storage was
// made to fail. Clients note each request with the time it was made and answered
// (Operation); afterwards the storage itself is read from its first revision to its
// last (Truth). Three questions are put to the two:
//
//   - Lost: is every acknowledged write in the storage, as it was acknowledged, and
//     nothing that nobody wrote?
//   - NotLinearizable: is there for each object one order of all requests that
//     agrees with their times and with all their answers?
//   - Inconsistent: did each list show one moment of the whole storage?
//
// A request whose outcome its client does not know may have been carried out or
// not; the storage tells which.
package history
