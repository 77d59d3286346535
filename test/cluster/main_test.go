// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func TestMistakesOnTheCommandLine(t *testing.T) {
	dir := t.TempDir()
	cases := map[string]struct {
		args []string
		code int
		says string
	}{
		"no subcommand":                 {nil, exitUsage, "build, up, register, server, node, image-load, status, down"},
		"an unknown subcommand":         {[]string{"start"}, exitUsage, `"start"`},
		"an unknown flag":               {[]string{"up", "--port=1"}, exitUsage, "-port"},
		"a stray argument":              {[]string{"down", "now"}, exitUsage, `"now"`},
		"an empty directory":            {[]string{"status", "--dir="}, exitUsage, "--dir"},
		"a server, and nothing to do":   {[]string{"server", "--dir", dir}, exitUsage, "server stop"},
		"an unknown verb of the server": {[]string{"server", "kill", "--dir", dir}, exitUsage, "stop, wipe, start"},
		"a server that is not there":    {[]string{"server", "stop", "--dir", dir}, exitFailed, "cluster register"},
		"an unknown Kubernetes": {
			[]string{"up", "--dir", filepath.Join(dir, "none"), "--kubernetes=1.33"}, exitUsage, "want one of 1.34, 1.35, 1.36, 1.37"},
		"no server to register":      {[]string{"register", "--dir", dir}, exitUsage, "--server"},
		"a server that is not built": {[]string{"register", "--dir", dir, "--server", "/nowhere", "--manifests", dir}, exitFailed, "/nowhere"},
		"the status of nothing":      {[]string{"status", "--dir", filepath.Join(dir, "none")}, exitFailed, "cluster up"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var errOut bytes.Buffer
			code := run(t.Context(), tc.args, io.Discard, &errOut)
			if code != tc.code {
				t.Errorf("exit code: got %d, want %d", code, tc.code)
			}
			said := errOut.String()
			if !strings.Contains(said, tc.says) || strings.Count(said, "\n") != 1 {
				t.Errorf("message: got %q, want one line with %q", said, tc.says)
			}
		})
	}
}

func TestHelpSucceeds(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"up", "--help"}, {"register", "-h"}} {
		var out bytes.Buffer
		if code := run(t.Context(), args, &out, io.Discard); code != 0 || !strings.Contains(out.String(), "Usage: cluster") {
			t.Errorf("cluster %v: got exit code %d and %q, want 0 and the usage", args, code, out.String())
		}
	}
}

func TestDownOfNothingSucceedsAndCreatesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	if code := run(t.Context(), []string{"down", "--dir", dir}, io.Discard, io.Discard); code != 0 {
		t.Errorf("exit code: got %d, want 0", code)
	}
	if found, _ := filepath.Glob(dir); len(found) != 0 {
		t.Errorf("directory: got it created, want it absent")
	}
}

func TestExtraArgumentsFollowTheDashes(t *testing.T) {
	own, extra := splitExtra([]string{"--dir", "d", "--", "--v=4", "--"})
	if len(own) != 2 || len(extra) != 2 || extra[0] != "--v=4" {
		t.Errorf("splitting: got %q and %q, want the first two and the last two", own, extra)
	}
}
