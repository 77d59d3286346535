// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package conformance plays random sequences of requests to the model of an API
// server that the simulator uses and to a real kube-apiserver, and compares the
// answers and the events of a watch. UIDs, resource versions and times are compared
// by what they mean: whether an object is another one, has changed, or is going.
//
//	hack/test-on-cluster.sh faults/sim/conformance
//
// SEQUENCES says how many sequences are played (1000, or 100 with -test.short), SEED with
// which they begin. The controllers of the cluster are stopped meanwhile, because they
// would act on what is compared. Claims are created and read only: on them, more than one
// writes even so.
package conformance
