// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package target

import (
	"slices"
	"strings"

	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
)

// IsKind reports whether a word names our sets. With the group of the built-in ones it does not.
func IsKind(word string) bool {
	plain, group, _ := strings.Cut(strings.ToLower(word), ".")
	return slices.Contains([]string{"statefulset", "statefulsets", "sts", "sset"}, plain) &&
		slices.Contains([]string{"", v1.GroupName, v1.SchemeGroupVersion.Version + "." + v1.GroupName}, group)
}

// DryRunSuffix is what a message ends with that says what would be done.
func DryRunSuffix(dryRun cmdutil.DryRunStrategy) string {
	switch dryRun {
	case cmdutil.DryRunClient:
		return " (dry run)"
	case cmdutil.DryRunServer:
		return " (server dry run)"
	default:
		return ""
	}
}
