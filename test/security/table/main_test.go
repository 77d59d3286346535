// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"statefulset.dev/test/security/items"
)

func TestTheTableFailsUnlessEverythingPassed(t *testing.T) {
	ends := func(but, end string) string {
		var text strings.Builder
		for _, item := range items.All() {
			for _, test := range item.Tests {
				action := "pass"
				if test.Name == but {
					action = end
				}
				if action != "" {
					fmt.Fprintf(&text, `{"Action":%q,"Package":"statefulset.dev/%s","Test":%q}`+"\nnoise\n", action, test.Package, test.Name)
				}
			}
		}
		return text.String()
	}
	for name, test := range map[string]struct{ but, end, want string }{
		"everything passed": {"", "", ""},
		"one failed":        {"TestNothingIsRedirected", "fail", "TestNothingIsRedirected (failed)"},
		"one was skipped":   {"TestNothingIsRedirected", "skip", "TestNothingIsRedirected (skipped)"},
		"one did not run":   {"TestNothingIsRedirected", "", "TestNothingIsRedirected (did not run)"},
	} {
		t.Run(name, func(t *testing.T) {
			results, err := read(strings.NewReader(ends(test.but, test.end)))
			if err != nil {
				t.Fatalf("reading: %v", err)
			}
			var out strings.Builder
			err = write(&out, results)
			if got, want := err != nil, test.want != ""; got != want || !strings.Contains(out.String(), test.want) {
				t.Errorf("got %v and\n%s\nwant an error: %t, and %q", err, &out, want, test.want)
			}
			if got, want := strings.Count(out.String(), "\n"), len(items.All())+1; got != want {
				t.Errorf("lines: got %d, want %d", got, want)
			}
		})
	}
}
