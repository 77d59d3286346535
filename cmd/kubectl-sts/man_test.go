// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"statefulset.dev/cmd/internal/man"
)

func TestManPages(t *testing.T) {
	man.Check(t, newCommand(genericiooptions.NewTestIOStreamsDiscard()))
}
