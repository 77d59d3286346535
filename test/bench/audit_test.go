//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"io"
	"os"
	"testing"

	"statefulset.dev/test/bench/measure"
)

// auditLog is the host's audit log, read from where the last reader stopped. The log is
// written before the answer to a request, so what has been answered is there.
type auditLog struct {
	path string
	file *os.File
}

func openAudit(t *testing.T, path string) *auditLog {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatalf("opening the audit log: %v", err)
	}
	t.Cleanup(func() { file.Close() })
	return &auditLog{path, file}
}

// mark lets the next count begin here.
func (a *auditLog) mark(t *testing.T) { a.rest(t) }

// count counts what was asked since the mark, and marks.
func (a *auditLog) count(t *testing.T, filter measure.Filter) measure.Requests {
	t.Helper()
	requests, _, err := measure.CountWrites(bytes.NewReader(a.rest(t)), filter)
	if err != nil {
		t.Fatal(err)
	}
	return requests
}

// rest reads up to the end of the log, across a rotation.
func (a *auditLog) rest(t *testing.T) []byte {
	t.Helper()
	log, err := io.ReadAll(a.file)
	if err != nil {
		t.Fatalf("reading the audit log: %v", err)
	}
	open, openErr := a.file.Stat()
	current, err := os.Stat(a.path)
	if openErr != nil || err != nil {
		t.Fatalf("looking at the audit log: %v, %v", openErr, err)
	}
	if os.SameFile(open, current) {
		return log
	}
	a.file.Close()
	if a.file, err = os.Open(a.path); err != nil {
		t.Fatalf("opening the audit log: %v", err)
	}
	return append(log, a.rest(t)...)
}

// size changes whenever something was asked.
func (a *auditLog) size(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(a.path)
	if err != nil {
		t.Fatalf("looking at the audit log: %v", err)
	}
	return info.Size()
}
