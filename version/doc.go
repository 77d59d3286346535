// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package version says which build a program is, and which versions of Kubernetes
// it works with.
//
// It stands beside the version that k8s.io/component-base knows, which /version
// serves: that one is the version of Kubernetes whose API machinery this is, from
// which the feature gates follow, and must stay one of Kubernetes.
package version

// Header is in our server's answer to discovery of its group, and names its version.
// Nothing else that tells of the server passes through the aggregator.
const Header = "Statefulset-Apiserver-Version"
