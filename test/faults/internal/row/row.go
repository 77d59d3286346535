// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package row records the results of a fault suite for the table of all suites.
package row

import (
	"encoding/json"
	"os"
	"testing"
)

// Row is one result.
type Row struct {
	// Fault is the injected fault.
	Fault string `json:"fault"`
	// Side is the side whose controller or server had the fault: "ours", "built-in" or "-".
	Side string `json:"side"`
	// Where is "real" or "simulator".
	Where string `json:"where"`
	// Runs is the number of runs, and Violations the number of violations in them.
	Runs       int `json:"runs"`
	Violations int `json:"violations"`
	// Detail is one short sentence.
	Detail string `json:"detail"`
}

// Report logs a row and appends it to the file that FAULTS_TABLE names, if any.
func Report(t testing.TB, row Row) {
	t.Helper()
	line, err := json.Marshal(row)
	if err != nil {
		t.Fatalf("encoding a row: %v", err)
	}
	t.Logf("%s", line)
	path := os.Getenv("FAULTS_TABLE")
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatalf("opening FAULTS_TABLE: %v", err)
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		t.Fatalf("writing to FAULTS_TABLE: %v", err)
	}
}
