// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"slices"
	"testing"
)

func TestArguments(t *testing.T) {
	given := Args{"--leader-elect=false", "--kubeconfig=here", "--leader-elect-lease-name=x"}
	tests := map[string]struct {
		got, want Args
	}{
		"are replaced": {
			given.With("kubeconfig", "there"), Args{"--leader-elect=false", "--leader-elect-lease-name=x", "--kubeconfig=there"}},
		"are taken away, by their names":    {given.Without("leader-elect"), Args{"--kubeconfig=here", "--leader-elect-lease-name=x"}},
		"are left alone when they are none": {given.Without("data-dir"), given},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if !slices.Equal(test.got, test.want) {
				t.Errorf("got %q, want %q", test.got, test.want)
			}
		})
	}
	if got := given.Get("kubeconfig"); got != "here" {
		t.Errorf("the value of --kubeconfig: got %q, want %q", got, "here")
	}
}
