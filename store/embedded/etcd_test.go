// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const mib = 1 << 20

// useEtcd runs an embedded etcd for as long as use takes.
func useEtcd(t *testing.T, path string, use func(*clientv3.Client)) {
	t.Helper()
	etcd, err := Start(t.Context(), path)
	if err != nil {
		t.Fatalf("starting etcd: %v", err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd.Endpoint()}})
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	use(client)
	if err := client.Close(); err != nil {
		t.Errorf("disconnecting from etcd: %v", err)
	}
	if err := etcd.Close(); err != nil {
		t.Errorf("stopping etcd: %v", err)
	}
}

// filled is a data directory that was used and left in order.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	useEtcd(t, path, func(client *clientv3.Client) {
		if _, err := client.Put(t.Context(), "key", "value"); err != nil {
			t.Fatalf("writing: %v", err)
		}
	})
	return path
}

func TestDataSurvivesARestart(t *testing.T) {
	path := filled(t)
	useEtcd(t, path, func(client *clientv3.Client) {
		got, err := client.Get(t.Context(), "key")
		if err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "value" {
			t.Errorf("after a restart: got %v, %v, want the value", got, err)
		}
	})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of the data directory: got %v, %v, want 0700", info.Mode(), err)
	}
}

func TestUnusedRoomIsGivenBackAtTheNextStart(t *testing.T) {
	path := t.TempDir()
	size := func(client *clientv3.Client) int64 {
		status, err := client.Status(t.Context(), client.Endpoints()[0])
		if err != nil {
			t.Fatalf("asking etcd for its size: %v", err)
		}
		return status.DbSize
	}
	var before int64
	useEtcd(t, path, func(client *clientv3.Client) {
		var revision int64
		for n := range defragmentFrom + 8 {
			put, err := client.Put(t.Context(), fmt.Sprint("key-", n), strings.Repeat("x", mib))
			if err != nil {
				t.Fatalf("writing: %v", err)
			}
			revision = put.Header.Revision
		}
		if _, err := client.Delete(t.Context(), "key-", clientv3.WithPrefix()); err != nil {
			t.Fatalf("deleting: %v", err)
		}
		if _, err := client.Compact(t.Context(), revision+1, clientv3.WithCompactPhysical()); err != nil {
			t.Fatalf("compacting: %v", err)
		}
		before = size(client)
	})
	useEtcd(t, path, func(client *clientv3.Client) {
		if after := size(client); before < defragmentFrom*mib || after > 8*mib {
			t.Errorf("size of the database: got %d MiB, and %d MiB after a restart, want at least %d and at most 8", before/mib, after/mib,
				defragmentFrom)
		}
	})
}

func TestTheSocketIsForUsOnly(t *testing.T) {
	etcd, err := Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatalf("starting etcd: %v", err)
	}
	socket := strings.TrimPrefix(etcd.Endpoint(), "unix://")
	info, err := os.Stat(filepath.Dir(socket))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of the socket's directory: got %v, %v, want 0700", info.Mode(), err)
	}
	if err := etcd.Close(); err != nil {
		t.Errorf("stopping etcd: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(socket)); !os.IsNotExist(err) {
		t.Errorf("the socket's directory afterwards: got %v, want none", err)
	}
}

func TestADataDirectoryIsRefused(t *testing.T) {
	write := func(name, content string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(filepath.Join(path, name), []byte(content), 0o600); err != nil {
				t.Fatalf("preparing the directory: %v", err)
			}
		}
	}
	tests := map[string]struct {
		spoil func(t *testing.T, path string)
		want  string
	}{
		"that another process uses": {
			spoil: func(t *testing.T, path string) {
				etcd, err := Start(t.Context(), path)
				if err != nil {
					t.Fatalf("starting the other: %v", err)
				}
				t.Cleanup(func() { etcd.Close() })
			},
			want: "is in use by another process",
		},
		"that something else wrote": {
			spoil: func(t *testing.T, path string) {
				if err := os.Remove(filepath.Join(path, versionFile)); err != nil {
					t.Fatalf("preparing the directory: %v", err)
				}
			},
			want: `was not written by this server: it contains "member"`,
		},
		"of another layout":       {write(versionFile, `{"layout":2,"etcd":"3.7"}`), "has layout 2, this server reads layout 1"},
		"of a later etcd":         {write(versionFile, `{"layout":1,"etcd":"3.8"}`), "was written by etcd 3.8, this server embeds etcd 3.7"},
		"of a much earlier etcd":  {write(versionFile, `{"layout":1,"etcd":"3.5"}`), "was written by etcd 3.5, this server embeds etcd 3.7"},
		"whose version is torn":   {write(versionFile, `{"layo`), "is damaged: version.json does not contain a version"},
		"whose version is absurd": {write(versionFile, `{"layout":1,"etcd":"new"}`), `is damaged: version.json names etcd version "new"`},
		"whose database is damaged at the beginning": {
			spoil: func(t *testing.T, path string) { scribble(t, database(path), 0) },
			want:  "invalid database",
		},
		"whose database is damaged inside": {
			spoil: func(t *testing.T, path string) { scribble(t, database(path), 8192) },
			want:  "db is damaged",
		},
		"whose database is cut off": {
			spoil: func(t *testing.T, path string) {
				if err := os.Truncate(database(path), 16384); err != nil {
					t.Fatalf("damaging the database: %v", err)
				}
			},
			want: "it was cut off after 16384 of",
		},
		"whose database is missing": {
			spoil: func(t *testing.T, path string) {
				if err := os.Remove(database(path)); err != nil {
					t.Fatalf("damaging the database: %v", err)
				}
			},
			want: "db is missing",
		},
		"whose log is damaged": {
			spoil: func(t *testing.T, path string) {
				logs, err := filepath.Glob(filepath.Join(path, "member", "wal", "*.wal"))
				if err != nil || len(logs) == 0 {
					t.Fatalf("finding the log: got %q, %v", logs, err)
				}
				scribble(t, logs[0], 0)
			},
			want: "wal is damaged",
		},
		"whose log is cut off": {
			spoil: func(t *testing.T, path string) {
				logs, err := filepath.Glob(filepath.Join(path, "member", "wal", "*.wal"))
				if err != nil || len(logs) == 0 {
					t.Fatalf("finding the log: got %q, %v", logs, err)
				}
				if err := os.Truncate(logs[0], 500); err != nil {
					t.Fatalf("damaging the log: %v", err)
				}
			},
			want: "it was cut off: it ends with entry",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			test.spoil(t, path)
			before := contents(t, path)

			etcd, err := Start(t.Context(), path)
			if err == nil {
				etcd.Close()
				t.Fatalf("got no error, want one with %q", test.want)
			}
			t.Logf("error: %v", err)
			if text := err.Error(); !strings.Contains(text, test.want) || !strings.Contains(text, path) || strings.Contains(text, "\n") {
				t.Errorf("error: got %q, want one line with the path and %q", text, test.want)
			}
			if after := contents(t, path); !maps.EqualFunc(before, after, bytes.Equal) && !strings.Contains(name, "another process") {
				t.Errorf("files: got %v, want %v unchanged", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(before)))
			}
		})
	}
}

func TestADataDirectoryThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatalf("preparing: %v", err)
	}
	_, err := Start(t.Context(), filepath.Join(file, "data"))
	if err == nil || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("got %v, want an error that names --data-dir", err)
	}
}

func TestAStartThatIsCancelledEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if etcd, err := Start(ctx, t.TempDir()); err == nil { // it may be ready before it looks
		if err := etcd.Close(); err != nil {
			t.Errorf("stopping etcd: %v", err)
		}
	}
}

func database(path string) string { return filepath.Join(path, "member", "snap", "db") }

// scribble overwrites some pages of a file.
func scribble(t *testing.T, path string, offset int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatalf("damaging %s: %v", path, err)
	}
	if _, err := file.WriteAt(bytes.Repeat([]byte("damage"), 4096), offset); err != nil {
		t.Fatalf("damaging %s: %v", path, err)
	}
	if err := file.Close(); err != nil {
		t.Fatalf("damaging %s: %v", path, err)
	}
}

// contents are all files below a directory.
func contents(t *testing.T, path string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files[name], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
	return files
}
