// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"slices"
)

// Error is the reason why something cannot be rendered.
type Error struct {
	// In is the part of spec with the error, such as identity.transforms[0]. Field is the field in
	// that part, empty for the whole part.
	In, Field string
	// Value is the invalid value.
	Value string
	// Detail describes the error.
	Detail string
	// Forbidden is true if the field must not be set, whatever its value.
	Forbidden bool
	// Stopped is true if the only error is that the evaluation ran out of time. A retry may
	// succeed.
	Stopped bool
}

func (e *Error) Error() string { return e.In + ": " + e.Detail }

func errorf(in, field, value, format string, args ...any) *Error {
	return &Error{In: in, Field: field, Value: value, Detail: fmt.Sprintf(format, args...)}
}

// For describes the error for a member.
func (e *Error) For(ordinal int) string {
	return fmt.Sprintf("%s for ordinal %d: %s", e.In, ordinal, e.Detail)
}

// changes is the reason why a parameter cannot be used at a place that never changes.
const changes = "changes while pods run; use it in env, args, command or objectTemplates"

// owned are the paths that a template cannot set, because the controller sets them. selected are
// the labels in the selector of the set.
func owned(selected []string) []pointer {
	all := []pointer{
		{"metadata", "name"}, {"metadata", "generateName"}, {"metadata", "namespace"}, {"metadata", "ownerReferences"}, {"metadata", "uid"},
		{"spec", "hostname"}, {"spec", "subdomain"}, {"spec", "restartPolicy"}}
	for _, key := range slices.Concat(selected, labelsOfMember()) {
		all = append(all, pointer{"metadata", "labels", key})
	}
	return all
}

// labelsOfMember are the labels that identify the member and the revision of a pod.
func labelsOfMember() []string {
	return []string{"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "controller-revision-hash"}
}
