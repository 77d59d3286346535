// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package space

// What tests with a whole server, which are in another package, see of this one.
const LeastBurst = leastBurst

var StartRoom = startRoom
