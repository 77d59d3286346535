// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package install installs the server of apps.statefulset.dev in a cluster: it checks that the
// manifests in the plugin can work there, and applies them.
//
//	command.go  the flags, and the order of the steps
//	objects.go  the manifests
//	checks.go   the checks before anything is changed
//	store.go    the checks of the store
//	apply.go    applying, and waiting until the API serves
package install
