// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package preflight tries a set on the host cluster, with dry runs, before it is stored.
//
//	options.go    the flags
//	preflight.go  when a set is tried, and how many objects for one request
//	trial.go      which objects are tried: the template, the first pod, and the claims
//	overrides.go  the pods of overrides
//	objects.go    the objects of templates
//	dry_run.go    the dry runs, and dry_run_objects.go those of objects of any kind
//	origin.go     the field of the set for each field of these objects
//	verdict.go    the answers of the host cluster, rewritten for the set
package preflight
