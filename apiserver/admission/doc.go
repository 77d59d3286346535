// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package admission changes and refuses what is written, as the host cluster wants it.
//
//	admission.go  which plugins there are
//	apply.go      what they follow of the host
//	policies.go   mutating policies, which only hosts from 1.36 on serve
//	reclaim.go    who has claims deleted later must be allowed to delete them
//	objects.go    who describes objects must be allowed to make them: of what kinds they may be is in
//	              objects_kinds.go, and whose review a change needs in objects_changed.go
//	rights.go     how the host is asked what a user may
//	quota.go      quota is charged last, after a set was tried on the host
package admission
