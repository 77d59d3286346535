// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestASecondHolderWaitsForTheFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := waitLock(t.Context(), path, "another build", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	waiting, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = waitLock(waiting, path, "another build", &said)
	if want := "waiting for another build\n"; !errors.Is(err, context.DeadlineExceeded) || said.String() != want {
		t.Errorf("locking what is locked: got %v and %q, want it to wait and say %q once", err, said.String(), want)
	}
	unlock()
	again, err := waitLock(t.Context(), path, "another build", io.Discard)
	if err != nil {
		t.Fatalf("locking what was unlocked: got %v, want the lock", err)
	}
	again()
}

func TestOneCommandAtATimeWorksOnADirectory(t *testing.T) {
	dir := t.TempDir()
	unlock, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDir(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("locking a directory in use: got %v, want an error that names it", err)
	}
	unlock()
	again, err := lockDir(dir)
	if err != nil {
		t.Fatalf("locking a directory that is free again: got %v, want the lock", err)
	}
	again()
}
