// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"fmt"
	"strconv"
	"strings"
)

// Minor versions of Kubernetes 1 that a host cluster may have. Each of them, and those
// between, is tested by make test-hosts.
const (
	OldestHost = 34
	NewestHost = 37
)

// HostRange names the versions that a host cluster may have.
func HostRange() string { return fmt.Sprintf("1.%d to 1.%d", OldestHost, NewestHost) }

// UntestedHost says why a host of a version, such as v1.33.2, is not one that this
// program was tested with. It is empty if it was.
func UntestedHost(gitVersion string) string {
	minor, ok := hostMinor(gitVersion)
	switch {
	case !ok:
		return fmt.Sprintf("%q is not a version of Kubernetes 1; this is tested with %s", gitVersion, HostRange())
	case minor < OldestHost:
		return fmt.Sprintf("%s is older than what this is tested with, %s", gitVersion, HostRange())
	case minor > NewestHost:
		return fmt.Sprintf("%s is newer than what this is tested with, %s", gitVersion, HostRange())
	}
	return ""
}

// hostMinor is the minor version. What vendors append to a version does not matter.
func hostMinor(gitVersion string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(gitVersion, "v"), "1.")
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	minor, err := strconv.Atoi(digits)
	return minor, ok && err == nil
}
