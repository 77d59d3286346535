// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"statefulset.dev/cmd/internal/man"
)

func TestManPages(t *testing.T) {
	command, err := newCommand()
	if err != nil {
		t.Fatal(err)
	}
	man.Check(t, command)
}
