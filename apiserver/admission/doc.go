// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission changes and refuses writes according to the host cluster.
//
//	admission.go  the plugins
//	apply.go      what they follow in the host cluster
//	policies.go   mutating policies, which Kubernetes serves from 1.36 on
//	reclaim.go    a user who sets a later deletion of claims must be allowed to delete claims
//	objects.go    a user who describes objects must be allowed to create them; objects_kinds.go
//	              decides which kinds are possible, and objects_removed.go reviews the objects
//	              of removed templates
//	rights.go     asks the host cluster whether a user has a right
//	quota.go      quota is charged last, after the dry runs of a set in the host cluster
package admission
