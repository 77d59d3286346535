// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package target

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
)

// IsKind reports whether a word is a resource name of our sets. A word with the group of the
// built-in sets is not.
func IsKind(word string) bool {
	plain, group, _ := strings.Cut(strings.ToLower(word), ".")
	return slices.Contains([]string{"statefulset", "statefulsets", "sts", "sset"}, plain) &&
		slices.Contains([]string{"", v1.GroupName, v1.SchemeGroupVersion.Version + "." + v1.GroupName}, group)
}

// OneSet returns the kind and the name of the one set in the arguments of a command, as in "web",
// "statefulset/web" and "statefulset web". It returns false for no arguments and for too many.
func OneSet(args []string) (kind, name string, ok bool) {
	switch {
	case len(args) == 1 && strings.Contains(args[0], "/"):
		kind, name, _ = strings.Cut(args[0], "/")
	case len(args) == 1:
		kind, name = "statefulset", args[0]
	case len(args) == 2:
		kind, name = args[0], args[1]
	}
	return kind, name, kind != ""
}

// DryRun returns the field DryRun for the options of a write: set if the user requested a server
// dry run.
func DryRun(strategy cmdutil.DryRunStrategy) []string {
	if strategy == cmdutil.DryRunServer {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// DryRunSuffix returns the end of a message about a change that was only a dry run.
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
