//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/disk"
)

// filesAreDamaged flips a byte, or cuts a file off, in copies of a data directory. A
// server that is started on one either ends with one line that says what to do, or
// it serves what was there.
func filesAreDamaged(t *testing.T, w *world, data string) {
	m := w.settle(t, w.Namespace(t, "guard"), "db", 2)
	w.stop(t)
	database, log := filepath.Join("member", "snap", "db"), firstLog(t, data)
	for name, spoil := range map[string]func(*testing.T, string){
		"a byte of the database's first page":  flip(database, 0, 100),
		"a byte of the database's second page": flip(database, 4096, 100),
		"a byte within the database":           flip(database, 5*4096, 40),
		"a byte far within the database":       flip(database, 9*4096, 40),
		"a byte of the log's beginning":        flip(log, 0, 20),
		"a byte within the log":                flip(log, 4000, 0),
		"the end of the database":              cut(database, 3*4096),
		"the end of the log":                   cut(log, 500),
		"the log":                              remove(filepath.Join("member", "wal")),
		"the database":                         remove(database),
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := copyDir(t, data)
			spoil(t, spoilt)
			before, err := os.Stat(w.LogOf(w.program.Name))
			if err != nil {
				t.Fatalf("finding the log: %v", err)
			}
			w.launch(t, spoilt)
			outcome := ""
			harness.Eventually(t, "the server has ended, serves or refuses", func(ctx context.Context) error {
				select {
				case <-w.server.Exited():
					outcome = "ended"
					return nil
				default:
				}
				if set, err := w.direct.AppsV1().StatefulSets(m.Namespace).Get(ctx, m.Set.Name, metav1.GetOptions{}); err == nil &&
					set.UID == m.Set.UID {
					outcome = "serves"
					return nil
				}
				if reason := w.reason(ctx); strings.Contains(reason, "An operator must choose") {
					outcome = "refuses"
					return nil
				}
				return fmt.Errorf("it runs")
			})
			content, err := os.ReadFile(w.LogOf(w.program.Name))
			if err != nil {
				t.Fatalf("reading the log: %v", err)
			}
			last := lastLine(string(content[before.Size():]))
			t.Logf("%s: %s", outcome, last)
			if outcome == "ended" && (!strings.HasPrefix(last, "statefulset-apiserver: ") || !strings.Contains(last, "restore it from a backup")) {
				t.Errorf("last words: got %q, want one line that says what to do", last)
			}
			m.mustStay(t, "with damage to "+name, time.Second)
			if outcome != "ended" {
				w.stop(t)
			}
		})
	}
}

func firstLog(t *testing.T, data string) string {
	t.Helper()
	logs, err := fs.Glob(os.DirFS(data), "member/wal/*.wal")
	if err != nil || len(logs) == 0 {
		t.Fatalf("finding the log of %s: got %v, %v", data, logs, err)
	}
	return logs[0]
}

// flip inverts a byte of a page.
func flip(file string, page, at int64) func(*testing.T, string) {
	return func(t *testing.T, data string) {
		t.Helper()
		path := filepath.Join(data, file)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("reading: %v", err)
		}
		content[page+at] ^= 0xff
		write(t, path, content)
	}
}

func cut(file string, size int64) func(*testing.T, string) {
	return func(t *testing.T, data string) {
		t.Helper()
		if err := os.Truncate(filepath.Join(data, file), size); err != nil {
			t.Fatalf("cutting: %v", err)
		}
	}
}

func remove(file string) func(*testing.T, string) {
	return func(t *testing.T, data string) {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(data, file)); err != nil {
			t.Fatalf("removing: %v", err)
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatalf("writing: %v", err)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// aDiskIsFull takes the last byte of the disk from under a running server.
func aDiskIsFull(t *testing.T, w *world, first string) {
	small := t.TempDir()
	disk.Small(t, small, 192<<20)
	w.stop(t)
	data := filepath.Join(small, "data")
	if err := os.CopyFS(data, os.DirFS(first)); err != nil {
		t.Fatalf("copying: %v", err)
	}
	w.launch(t, data)
	w.awaitServed(t)
	m := w.settle(t, w.Namespace(t, "guard"), "db", 2)

	filler := filepath.Join(small, "filler")
	disk.Fill(t, filler)
	// Writes go on until one finds no space.
	ended := false
	for i := 0; i < 400 && !ended; i++ {
		set := harness.NewSet(fmt.Sprintf("more-%d", i), 0)
		set.Annotations = map[string]string{"test/size": strings.Repeat("x", 200<<10)}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := w.direct.AppsV1().StatefulSets(m.Namespace).Create(ctx, set, metav1.CreateOptions{})
		cancel()
		if err != nil {
			t.Logf("write %d: %v", i, err)
		}
		select {
		case <-w.server.Exited():
			ended = true
		default:
		}
	}
	m.mustStay(t, "with a full disk", shortly)
	content, err := os.ReadFile(w.LogOf(w.program.Name))
	if err != nil {
		t.Fatalf("reading the log: %v", err)
	}
	if !ended {
		t.Error("the server still runs after 400 writes to a full disk")
	}
	if last := lastLine(string(content)); !strings.HasPrefix(last, "statefulset-apiserver: ") ||
		!strings.Contains(last, "no space left on device") {
		t.Errorf("last words: got %q, want one line that says that the disk is full", last)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatalf("making room: %v", err)
	}
	w.launch(t, data)
	w.awaitServed(t)
	m.AwaitReady(t)
	m.mustStay(t, "with room on the disk again", time.Second)
	w.stop(t)
}
