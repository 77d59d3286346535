// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conformance sends random sequences of requests to the simulator's model of an API server
// and to a real kube-apiserver, and compares the responses and the events of a watch. It compares
// UIDs, resource versions and times by their meaning: whether an object is another one, has
// changed, or is terminating.
//
//	hack/test-on-cluster.sh faults/sim/conformance
//
// SEQUENCES is the number of sequences (1000, or 100 with -test.short), SEED the first one. The
// controllers of the cluster are stopped meanwhile, because they would change the compared objects.
// Claims are only created and read, because several components write to claims even so.
package conformance
