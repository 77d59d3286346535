// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"errors"
	"testing"
)

func TestPreflightIsChosenFromThree(t *testing.T) {
	for mode, want := range map[string]string{
		"enforce": "", "warn": "", "off": "",
		"maybe": `--preflight is "maybe", must be enforce, warn or off`,
		"":      `--preflight is "", must be enforce, warn or off`,
	} {
		got := ""
		if err := errors.Join((&Options{Mode: mode}).Validate()...); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("mode %q: got %q, want %q", mode, got, want)
		}
	}
}
