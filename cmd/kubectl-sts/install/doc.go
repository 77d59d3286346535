// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package install gives a cluster the server of apps.statefulset.dev: the manifests that
// are in the plugin, after a look at whether they can work there.
//
//	command.go  the flags, and the order of things
//	objects.go  the manifests
//	checks.go   what is looked at before anything is changed
//	apply.go    applying, and waiting until the API serves
package install
