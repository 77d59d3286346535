// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package history judges the responses that clients of a server got while its storage failed.
// Clients record each request with the times of the request and the response (Operation).
// Afterwards the storage itself is read from its first revision to its last (Truth). Three checks
// compare the two:
//
//   - Lost: does the storage contain every acknowledged write, as it was acknowledged, and
//     nothing that no client wrote?
//   - NotLinearizable: is there one order of all requests for each object that agrees with
//     their times and with all their responses?
//   - Inconsistent: did each list show one moment of the whole storage?
//
// A request whose outcome its client does not know may have been carried out or not; the storage
// shows which.
package history
