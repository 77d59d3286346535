// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package preflight tries a set on the host cluster before it is stored.
//
//	options.go    the flags
//	preflight.go  when a set is tried, and how many objects for one request
//	trial.go      what is tried: the template, the first pod, and the claims
//	overrides.go  the pods that overrides make
//	objects.go    the objects of templates
//	dry_run.go    how the host is asked, and dry_run_objects.go how about objects of any kind
//	origin.go     which field of the set a field of these objects comes from
//	verdict.go    what the host has found, in words about the set
package preflight
