// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation gives the same manifests, valid and invalid, to the StatefulSet
// that Kubernetes has built in and to ours, as dry runs on one cluster, and compares
// the answers: whether it is accepted, the fields complained of, the warnings, and
// the object with its defaults.
//
//	seeds/            valid sets that together use every field
//	create.yaml       sets written by hand, each a change of a seed
//	update.yaml       updates written by hand
//	mutate_test.go    what is made of the seeds: every value removed, emptied,
//	                  made too long, negative, huge, of another type, and so on
//	differences.yaml  what may differ, and why
//
// Any other difference is a failure, and so is an entry of differences.yaml that
// does not occur any more.
//
// The tests need a cluster that bin/cluster has started and registered the server
// with; make test-validation provides one. STATEFULSET_CLUSTER_DIR names its
// directory.
package validation
