// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
)

// Error says why something cannot be rendered.
type Error struct {
	// In is the part of spec that is to blame, such as identity.transforms[0]; Field is the one in
	// it, empty if it is the part itself.
	In, Field string
	// Value is what stands there.
	Value string
	// Detail says what is wrong with it.
	Detail string
	// Forbidden is true if it is not the value that is wrong, but that there is one.
	Forbidden bool
	// Stopped is true if nothing is wrong but that the time for evaluations was over. It may succeed when
	// it is tried again.
	Stopped bool
}

func (e *Error) Error() string { return e.In + ": " + e.Detail }

func errorf(in, field, value, format string, args ...any) *Error {
	return &Error{In: in, Field: field, Value: value, Detail: fmt.Sprintf(format, args...)}
}

// For says what is wrong for a member.
func (e *Error) For(ordinal int) string {
	return fmt.Sprintf("%s for ordinal %d: %s", e.In, ordinal, e.Detail)
}

// changes says that a parameter is no good for what stays as it is.
const changes = "changes while pods run; use it in env, args, command or objectTemplates"

// owned are the paths that are not the template's to say, of a template whose pods are found by some
// labels.
func owned(selected []string) []pointer {
	all := []pointer{
		{"metadata", "name"}, {"metadata", "generateName"}, {"metadata", "namespace"}, {"metadata", "ownerReferences"}, {"metadata", "uid"},
		{"spec", "hostname"}, {"spec", "subdomain"}, {"spec", "restartPolicy"}}
	for _, key := range slices.Concat(selected, labelsOfMember()) {
		all = append(all, pointer{"metadata", "labels", key})
	}
	return all
}

// labelsOfMember are those that say which member a pod is, and of which revision.
func labelsOfMember() []string {
	return []string{"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "controller-revision-hash"}
}
