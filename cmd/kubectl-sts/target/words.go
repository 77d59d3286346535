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

// IsKind reports whether a word names our sets. With the group of the built-in ones it does not.
func IsKind(word string) bool {
	plain, group, _ := strings.Cut(strings.ToLower(word), ".")
	return slices.Contains([]string{"statefulset", "statefulsets", "sts", "sset"}, plain) &&
		slices.Contains([]string{"", v1.GroupName, v1.SchemeGroupVersion.Version + "." + v1.GroupName}, group)
}

// OneSet is the kind and the name of the one set that the arguments of a command name, as in
// "web", "statefulset/web" and "statefulset web"; false if they are none or too many.
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

// DryRun is what the options of a write have so that the server only tries it, if that was
// asked for.
func DryRun(strategy cmdutil.DryRunStrategy) []string {
	if strategy == cmdutil.DryRunServer {
		return []string{metav1.DryRunAll}
	}
	return nil
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
