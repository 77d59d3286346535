// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation sends the same manifests, valid and invalid, to the built-in StatefulSet of
// Kubernetes and to ours, as dry runs on one cluster, and compares the responses: whether the
// manifest is accepted, the fields in errors, the warnings, and the object with its defaults.
//
//	seeds/            valid sets that together use every field
//	create.yaml       sets written by hand, each a change of a seed
//	update.yaml       updates written by hand
//	mutate_test.go    mutations of the seeds: every value is removed, emptied, made too long,
//	                  negative, huge, of another type, and so on
//	differences.yaml  the expected differences, and their reasons
//
// Any other difference is a failure, and so is an entry of differences.yaml that no longer occurs.
//
// The tests need a cluster that bin/cluster has started, with the server registered; make
// test-validation provides one. STATEFULSET_CLUSTER_DIR is its directory.
package validation
