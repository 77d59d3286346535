// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// MostObjectNamespaces is the maximum length of ObjectNamespaces. Every kind of objects is watched
// in each of the namespaces, so this and MostObjectKinds together limit the watches to 5,000.
const MostObjectNamespaces = 50

// maxListedNamespaces is the maximum number of namespaces that a message lists.
const maxListedNamespaces = 5

// ObjectNamespaces are the namespaces in which supporting objects of sets are created, watched and
// deleted. Nil means all namespaces.
type ObjectNamespaces []string

// Limited reports whether some namespaces are excluded.
func (n ObjectNamespaces) Limited() bool { return n != nil }

// Has reports whether objects may be in a namespace.
func (n ObjectNamespaces) Has(namespace string) bool {
	return n == nil || slices.Contains(n, namespace)
}

// Excluded returns the reason why objects cannot be in a namespace that is not listed.
func (n ObjectNamespaces) Excluded(namespace string) string {
	return fmt.Sprintf(
		"this server creates, watches and deletes supporting objects only in the namespaces that its flag --object-namespaces lists (%s), "+
			"and %q is not one of them", n.summary(), namespace)
}

func (n ObjectNamespaces) summary() string {
	if more := len(n) - maxListedNamespaces; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(n[:maxListedNamespaces], ", "), more)
	}
	return strings.Join(n, ", ")
}

// Validate returns an error for each namespace that cannot be listed, with the flag, the value and
// the valid values. own is the namespace of the server, where sets cannot have objects.
func (n ObjectNamespaces) Validate(own string) (errs []error) {
	if n != nil && len(n) == 0 {
		errs = append(errs, fmt.Errorf(
			"--object-namespaces is empty: list the namespaces, separated by commas, or omit the flag for all namespaces"))
	}
	if len(n) > MostObjectNamespaces {
		errs = append(errs, fmt.Errorf(
			"--object-namespaces lists %d namespaces: at most %d may be listed, because each kind of objects is watched in each of them; "+
				"omit the flag to watch each kind once, in all namespaces", len(n), MostObjectNamespaces))
	}
	for i, namespace := range n {
		problems := validation.IsDNS1123Label(namespace)
		switch {
		case len(problems) > 0:
			errs = append(errs, fmt.Errorf("--object-namespaces lists %q: %s", namespace, problems[0]))
		case namespace == own:
			errs = append(errs, fmt.Errorf(
				"--object-namespaces lists %q: it is the namespace of this server, where sets must not have objects; remove it", namespace))
		case slices.Contains(n[:i], namespace):
			errs = append(errs, fmt.Errorf("--object-namespaces lists %q twice: list each namespace once", namespace))
		}
	}
	return errs
}
