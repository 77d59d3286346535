// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"encoding/json"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
)

// preview prints the steps.
func (r *run) preview(s situation) {
	r.printf("would perform these steps, in this order:")
	if len(s.sets) > 0 {
		what := "delete them, and wait until their pods have terminated"
		if r.orphanMembers {
			what = "delete them, and wait until their pods have no owner"
		}
		r.printf("- %d sets: %s\n%s", len(s.sets), what, strings.TrimSuffix(list(s.sets), "\n"))
	}
	r.printf("- remove %s, and wait until the cluster no longer lists %s", registration(), v1.GroupName)
	for _, o := range removed()[1:] {
		r.printf("- remove %s%s", o, r.where(o))
	}
	r.printf("what stays: namespace %s with the claims, the notes of the store and the certificates", r.system)
}

func (r *run) where(o object) string {
	if o.everywhere {
		return ""
	}
	return " in namespace " + r.namespaceOf(o)
}

// printRemaining prints the data that is left, and how to remove it.
func (r *run) printRemaining(ctx context.Context) {
	var left []string
	for _, o := range staying()[1:] {
		if found, err := r.get(ctx, o); err == nil && found != nil {
			left = append(left, o.String())
		}
	}
	r.printf("%s is removed. Namespace %s stays, with %s.", v1.GroupName, r.system, orNothing(left))
	r.printf("Another installation continues with the same store from these. To delete them permanently:\n  kubectl delete namespace %s", r.system)
}

func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing of the server in it"
	}
	return strings.Join(names, ", ")
}

func quoted(names []string) string {
	text, err := json.Marshal(names)
	if err != nil || names == nil {
		return "[]"
	}
	return string(text)
}
