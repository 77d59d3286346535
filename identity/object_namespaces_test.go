// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// numbered are so many namespaces.
func numbered(count int) ObjectNamespaces {
	names := ObjectNamespaces{}
	for n := range count {
		names = append(names, fmt.Sprintf("team-%d", n))
	}
	return names
}

func TestObjectNamespacesThatAreRefused(t *testing.T) {
	for sentence, test := range map[string]struct {
		namespaces ObjectNamespaces
		want       string
	}{
		"no flag":                  {},
		"one namespace":            {namespaces: ObjectNamespaces{"a"}},
		"as many as may be listed": {namespaces: numbered(MostObjectNamespaces)},
		"one more than may be listed": {
			numbered(MostObjectNamespaces + 1), "--object-namespaces lists 51 namespaces: at most 50 may be listed"},
		"an empty list":                {ObjectNamespaces{}, "--object-namespaces is empty: list the namespaces, separated by commas"},
		"a name that no namespace has": {ObjectNamespaces{"a", "B_b"}, `--object-namespaces lists "B_b": a lowercase RFC 1123 label`},
		"an empty name":                {ObjectNamespaces{"a", ""}, `--object-namespaces lists "": a lowercase RFC 1123 label`},
		"a wildcard":                   {ObjectNamespaces{"*"}, `--object-namespaces lists "*": a lowercase RFC 1123 label`},
		"a namespace twice":            {ObjectNamespaces{"a", "b", "a"}, `--object-namespaces lists "a" twice: list each namespace once`},
		"the namespace of this server": {
			ObjectNamespaces{"a", "system"}, `--object-namespaces lists "system": it is the namespace of this server`},
		"two mistakes, the second told": {ObjectNamespaces{"*", "system"}, `--object-namespaces lists "system"`},
	} {
		err := errors.Join(test.namespaces.Validate("system")...)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", sentence, err, test.want)
		}
	}
}

func TestANamespaceThatIsNotListedIsTold(t *testing.T) {
	for sentence, test := range map[string]struct {
		namespaces ObjectNamespaces
		in         string
		has        bool
		want       string
	}{
		"without the flag": {in: "c", has: true},
		"a listed one":     {namespaces: ObjectNamespaces{"a", "c"}, in: "c", has: true},
		"another one": {
			namespaces: ObjectNamespaces{"a", "b"}, in: "c", want: `--object-namespaces lists (a, b), and "c" is not one of them`},
		"one of many": {
			namespaces: numbered(8), in: "c", want: `(team-0, team-1, team-2, team-3, team-4 and 3 more), and "c" is not one of them`},
	} {
		if got := test.namespaces.Has(test.in); got != test.has {
			t.Errorf("%s: got %q allowed %t, want %t", sentence, test.in, got, test.has)
		}
		if got := test.namespaces.Excluded(test.in); !test.has && !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", sentence, got, test.want)
		}
	}
}
