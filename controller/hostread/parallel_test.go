// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostread

import (
	"strings"
	"testing"
)

func TestAPanicIsTheErrorOfItsOwnAction(t *testing.T) {
	errs := InParallel(t.Context(), 3, 2, func(i int) error {
		if i == 1 {
			panic("boom")
		}
		return nil
	})
	if errs[0] != nil || errs[2] != nil || errs[1] == nil || !strings.Contains(errs[1].Error(), "boom") {
		t.Errorf("got %v, want only the second to fail, with boom", errs)
	}
}
