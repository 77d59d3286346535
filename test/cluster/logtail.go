// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	tailLines = 20
	tailBytes = 64 << 10
)

// logTail returns the last lines that the latest start of a component wrote to its log, indented
// for an error message.
func logTail(path string) string {
	text, err := readEnd(path)
	if err != nil {
		return fmt.Sprintf("  (its log cannot be read: %v)", err)
	}
	if i := strings.LastIndex(text, startMarker); i >= 0 {
		_, text, _ = strings.Cut(text[i:], "\n")
	}
	return lastLines(text)
}

func readEnd(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return "", err
		}
	}
	raw, err := io.ReadAll(f)
	return string(raw), err
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return "  " + strings.Join(lines, "\n  ")
}

// deadError reports a component whose process exited by itself.
type deadError struct {
	name string
	log  string
}

func (e deadError) Error() string {
	return fmt.Sprintf("%s exited; last lines of %s:\n%s", e.name, e.log, logTail(e.log))
}
