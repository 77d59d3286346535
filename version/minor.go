// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package version

const (
	// Component is what the server is called where it is one of several, such as in --emulated-version.
	Component = "statefulset"
	// Minor is the minor version that this source is released as. A release of another one is refused.
	Minor = "0.1"
	// OldestMinor is the oldest minor version that a server can be told to emulate: two before its
	// own, and none from before the first release.
	OldestMinor = "0.1"
)
