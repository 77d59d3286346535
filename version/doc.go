// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package version describes the build of a program, and the versions of Kubernetes that it works
// with.
//
// k8s.io/component-base has another version, which /version serves: the version of Kubernetes whose
// API machinery this program uses. The feature gates depend on it, so it must stay a version of
// Kubernetes.
package version

// Header is the header with the version of our server, in its answer to discovery of its group. The
// aggregator passes on nothing else that identifies the server.
const Header = "Statefulset-Apiserver-Version"
