// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package version

const (
	// Component is the name of the server among several components, such as in --emulated-version.
	Component = "statefulset"
	// Minor is the minor version of releases of this source. A release with another version is
	// refused.
	Minor = "0.1"
	// OldestMinor is the oldest minor version that a server can emulate: two before its own, but none
	// before the first release.
	OldestMinor = "0.1"
)
