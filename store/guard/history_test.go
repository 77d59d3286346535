// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheHistoryOfMarksIsBounded(t *testing.T) {
	var h history
	var mark string
	for i := range 3 * longestHistory {
		_, h = h.next(fmt.Sprintf("server%d", i))
		mark, h = h.next(fmt.Sprintf("server%d", i))
	}
	if got := len(strings.Fields(string(h))); got != longestHistory {
		t.Errorf("servers remembered: got %d, want %d", got, longestHistory)
	}
	for mark, want := range map[string]bool{
		mark: true, strings.Replace(mark, ".2", ".1", 1): true, strings.Replace(mark, ".2", ".3", 1): false,
		"server0.1": false, "": false, "other": false, "other.1": false, "server191.x": false,
	} {
		if got := h.has(mark); got != want {
			t.Errorf("has %q: got %t, want %t", mark, got, want)
		}
	}
}
