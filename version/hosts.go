// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"fmt"
	"strconv"
	"strings"
)

// The oldest and the newest minor version of Kubernetes 1 that a host cluster may have. make
// test-hosts tests these and all versions between them.
const (
	OldestHost = 34
	NewestHost = 37
)

// HostRange returns the versions that a host cluster may have.
func HostRange() string { return fmt.Sprintf("1.%d to 1.%d", OldestHost, NewestHost) }

// UntestedHost returns why a version of the host cluster, such as v1.33.2, is not among the tested
// versions. It is empty for a tested version.
func UntestedHost(gitVersion string) string {
	minor, ok := hostMinor(gitVersion)
	switch {
	case !ok:
		return fmt.Sprintf("%q is not a version of Kubernetes 1; the tested versions are %s", gitVersion, HostRange())
	case minor < OldestHost:
		return fmt.Sprintf("%s is older than the tested versions, %s", gitVersion, HostRange())
	case minor > NewestHost:
		return fmt.Sprintf("%s is newer than the tested versions, %s", gitVersion, HostRange())
	}
	return ""
}

// hostMinor returns the minor version. It ignores suffixes of vendors.
func hostMinor(gitVersion string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(gitVersion, "v"), "1.")
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	minor, err := strconv.Atoi(digits)
	return minor, ok && err == nil
}
