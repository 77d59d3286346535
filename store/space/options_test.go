// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package space

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestNamespacesThatWriteAreForgotten(t *testing.T) {
	r := newRoom(1, leastBurst, func() fill { return fill{} }, Remedies{})
	for n := range 3 * namespacesAtOnce {
		if err := r.Take(fmt.Sprint("namespace-", n), 10, true); err != nil {
			t.Fatalf("namespace %d: got %v, want no error", n, err)
		}
	}
	if got := r.spaces.Len(); got != namespacesAtOnce {
		t.Errorf("namespaces that are remembered: got %d, want %d", got, namespacesAtOnce)
	}
}

func TestRoomFlags(t *testing.T) {
	tests := map[string]struct{ rate, burst, want string }{
		"the defaults are fine":       {defaultWriteRate, defaultWriteBurst, ""},
		"no limit is fine":            {"0", "64Mi", ""},
		"a rate must be a quantity":   {"fast", "64Mi", `--namespace-write-rate is "fast": must be a number of bytes such as 64Mi`},
		"a rate must not be negative": {"-1", "64Mi", `--namespace-write-rate is "-1"`},
		"a burst must let the largest set through": {
			"2Mi", "1Mi", `--namespace-write-burst is "1Mi": must be a number of bytes such as 64Mi, from 2Mi to 1Ti`},
		"a burst must be less than what memory has": {"2Mi", "2Ei", `--namespace-write-burst is "2Ei"`},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			o := Options{Rate: test.rate, Burst: test.burst}
			err := errors.Join(o.Validate()...)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
