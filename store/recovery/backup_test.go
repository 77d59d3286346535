// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"statefulset.dev/store/backend"
	"statefulset.dev/store/guard"
)

func storeOptions(dataDir string) *backend.Options {
	options := backend.NewOptions()
	options.DataDir = dataDir
	return options
}

// unauthenticated accepts backups without a signature.
var unauthenticated = Trust{Unauthenticated: true}

// recordKey is the key of what a store says of itself.
const recordKey = backend.Prefix + "/store"

// seenStore is a store as it was found.
type seenStore struct {
	store, record    string
	marked, revision int64
}

func lookAt(t *testing.T, dataDir string) (seen seenStore) {
	t.Helper()
	withEtcd(t, dataDir, func(client *clientv3.Client) {
		found, err := guard.Describe(t.Context(), client, backend.Prefix)
		if err != nil {
			t.Fatalf("reading the record: %v", err)
		}
		record, err := client.Get(t.Context(), recordKey)
		if err != nil || len(record.Kvs) != 1 {
			t.Fatalf("reading the record: got %v, %v, want one", record, err)
		}
		seen = seenStore{found.Store, string(record.Kvs[0].Value), record.Kvs[0].ModRevision, found.Revision}
	})
	return seen
}

func TestABackupIsTheStoreAgain(t *testing.T) {
	for name, running := range map[string]bool{"of a server that runs": true, "of a server that was stopped": false} {
		t.Run(name, func(t *testing.T) {
			from, file, to := usedDir(t), filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "restored")
			before := lookAt(t, from)
			backUp := func() {
				var messages bytes.Buffer
				if err := Backup(t.Context(), storeOptions(from), file, nil, io.Discard, &messages); err != nil {
					t.Fatalf("backing up: %v", err)
				}
				if !strings.Contains(messages.String(), before.store) {
					t.Errorf("message: got %q, want the name of the store, %s", &messages, before.store)
				}
			}
			if running {
				withEtcd(t, from, func(*clientv3.Client) { backUp() })
			} else {
				backUp()
			}
			content, err := os.Open(file)
			if err != nil {
				t.Fatalf("opening the backup: %v", err)
			}
			defer content.Close()
			if err := Restore(t.Context(), storeOptions(to), "-", unauthenticated, content, io.Discard); err != nil {
				t.Fatalf("restoring: %v", err)
			}
			if left, err := filepath.Glob(to + ".*"); err != nil || len(left) > 0 {
				t.Errorf("files beside the directory: got %q, %v, want none", left, err)
			}
			after := lookAt(t, to)
			if after != before {
				t.Errorf("restored store: got %+v, want %+v", after, before)
			}
			withEtcd(t, to, func(client *clientv3.Client) {
				put, err := client.Put(t.Context(), "key", "new")
				if err != nil || put.Header.Revision != before.revision+1 {
					t.Fatalf("writing: got %+v, %v, want revision %d", put, err, before.revision+1)
				}
			})
			withEtcd(t, to, func(client *clientv3.Client) {
				if got, err := client.Get(t.Context(), "key"); err != nil || len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "new" {
					t.Errorf("after another start: got %v, %v, want what was written", got, err)
				}
			})
		})
	}
}

func TestABackupThatIsDamagedIsNotRestored(t *testing.T) {
	from, good := usedDir(t), filepath.Join(t.TempDir(), "backup")
	if err := Backup(t.Context(), storeOptions(from), good, nil, io.Discard, io.Discard); err != nil {
		t.Fatalf("backing up: %v", err)
	}
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatalf("reading the backup: %v", err)
	}
	flipped := bytes.Clone(content)
	flipped[len(flipped)/2] ^= 1
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"with a bit flipped": {flipped, "its hash is wrong"},
		"that was cut off":   {content[:len(content)/2+1], "which no etcd snapshot has"},
		"without its hash":   {content[:len(content)-32], "which no etcd snapshot has"},
		"that is empty":      {nil, "it has 0 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			file, to := filepath.Join(t.TempDir(), "bad"), filepath.Join(t.TempDir(), "restored")
			if err := os.WriteFile(file, test.content, 0o600); err != nil {
				t.Fatalf("preparing: %v", err)
			}
			err := Restore(t.Context(), storeOptions(to), file, unauthenticated, nil, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("got %v, want an error with %q and the file", err, test.want)
			}
			if _, err := os.Stat(to); !os.IsNotExist(err) {
				t.Errorf("the directory: got %v, want none", err)
			}
		})
	}
}

func TestABackupOverwritesNothing(t *testing.T) {
	from, file := usedDir(t), filepath.Join(t.TempDir(), "backup")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatalf("preparing: %v", err)
	}
	if err := Backup(t.Context(), storeOptions(from), file, nil, io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "already exists") {
		t.Errorf("backing up over a file: got %v, want an error", err)
	}
	good := filepath.Join(t.TempDir(), "backup")
	if err := Backup(context.WithoutCancel(t.Context()), storeOptions(from), good, nil, io.Discard, io.Discard); err != nil {
		t.Fatalf("backing up: %v", err)
	}
	if err := Restore(t.Context(), storeOptions(from), good, unauthenticated, nil, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "is not empty") {
		t.Errorf("restoring over a store: got %v, want an error", err)
	}
	if err := Backup(t.Context(), storeOptions(t.TempDir()), good+"2", nil, io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "holds no store") {
		t.Errorf("backing up an empty directory: got %v, want an error", err)
	}
}

// Who can write beside a backup must not be able to lead it elsewhere.
func TestABackupFollowsNoLink(t *testing.T) {
	from, dir := usedDir(t), t.TempDir()
	file, victim := filepath.Join(dir, "backup"), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatalf("preparing: %v", err)
	}
	for _, name := range []string{file + ".partial", filepath.Join(dir, "to.incoming")} {
		if err := os.Symlink(victim, name); err != nil {
			t.Fatalf("preparing: %v", err)
		}
	}
	if err := Backup(t.Context(), storeOptions(from), file, nil, io.Discard, io.Discard); err != nil {
		t.Fatalf("backing up: %v", err)
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the backup: got %v, %v, want a plain file of mode 0600", info, err)
	}
	content, err := os.Open(file)
	if err != nil {
		t.Fatalf("opening the backup: %v", err)
	}
	defer content.Close()
	if err := Restore(t.Context(), storeOptions(filepath.Join(dir, "to")), "-", unauthenticated, content, io.Discard); err != nil {
		t.Errorf("restoring: %v", err)
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
		t.Errorf("a file of somebody else: got %d bytes, %v, want what was in it", len(got), err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), file+"2"); err != nil {
		t.Fatalf("preparing: %v", err)
	}
	if err := Backup(t.Context(), storeOptions(from), file+"2", nil, io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "already exists") {
		t.Errorf("backing up to a link: got %v, want an error", err)
	}
}

func TestABackupOfALaterFormatIsNotRestored(t *testing.T) {
	from, file, to := usedDir(t), filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "restored")
	before := lookAt(t, from)
	if err := Backup(t.Context(), storeOptions(from), file, nil, io.Discard, io.Discard); err != nil {
		t.Fatalf("backing up: %v", err)
	}
	if err := Restore(t.Context(), storeOptions(to), file, unauthenticated, nil, io.Discard); err != nil {
		t.Fatalf("restoring a backup of format 1: %v", err)
	}
	withEtcd(t, from, func(client *clientv3.Client) {
		content, _ := json.Marshal(map[string]any{"store": before.store, "mark": "m", "format": 99})
		if _, err := client.Put(t.Context(), recordKey, string(content)); err != nil {
			t.Fatalf("raising: %v", err)
		}
	})
	file, to = file+"2", to+"2"
	var messages bytes.Buffer
	// A backup only copies.
	if err := Backup(t.Context(), storeOptions(from), file, nil, io.Discard, &messages); err != nil ||
		!strings.Contains(messages.String(), "format 99") {
		t.Errorf("backing up a store of format 99: got %v, %q, want the format in the message", err, &messages)
	}
	err := Restore(t.Context(), storeOptions(to), file, unauthenticated, nil, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "is in format 99, and this server knows formats up to 2") {
		t.Errorf("restoring a backup of format 99: got %v, want an error with both numbers", err)
	}
}
