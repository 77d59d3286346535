// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"statefulset.dev/store/backend"
	"statefulset.dev/store/signature"
)

func keysNamed(t *testing.T, names ...string) signature.Keys {
	t.Helper()
	var lines strings.Builder
	for _, name := range names {
		lines.WriteString(name + " " + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(name), 32)[:32]) + "\n")
	}
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := signature.ReadKeys(file)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// rehash puts the right hash behind what a snapshot has.
func rehash(content []byte) []byte {
	sum := sha256.Sum256(content)
	return append(bytes.Clone(content), sum[:]...)
}

func backedUp(t *testing.T, from string, keys signature.Keys) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "my.backup")
	if err := Backup(t.Context(), storeOptions(from), file, keys, io.Discard, io.Discard); err != nil {
		t.Fatalf("backing up: %v", err)
	}
	return file
}

func TestABackupIsRestoredByWhoTrustsIt(t *testing.T) {
	from := usedDir(t)
	before := lookAt(t, from)
	signed, unsigned := backedUp(t, from, keysNamed(t, "a")), backedUp(t, from, nil)
	for name, c := range map[string]struct {
		file  string
		trust Trust
		// want is part of the message if the backup is restored, and of the error if not.
		restored bool
		want     string
	}{
		"signed, with its key":              {signed, Trust{Keys: keysNamed(t, "a")}, true, `signed with key "a"`},
		"signed, after the key was changed": {signed, Trust{Keys: keysNamed(t, "b", "a")}, true, `signed with key "a"`},
		"signed, after it was changed twice": {
			signed, Trust{Keys: keysNamed(t, "c", "b")}, false, `signed with key "a", but --backup-key-file has only "c" and "b"`},
		"signed, without a key":                 {signed, Trust{}, false, "no --backup-key-file is set"},
		"signed, with a lost key, as asked for": {signed, Trust{Unauthenticated: true}, true, "warning: it claims to be signed"},
		"not signed, with a key": {unsigned, Trust{Keys: keysNamed(t, "a")}, false,
			"it is not signed, so nothing proves who created it; if you know where it comes from, restore it with --accept-unauthenticated"},
		"not signed, without a key": {unsigned, Trust{}, false, "--accept-unauthenticated"},
		"not signed, as asked for":  {unsigned, Trust{Keys: keysNamed(t, "a"), Unauthenticated: true}, true, "warning: it is not signed"},
	} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "restored")
			var messages bytes.Buffer
			err := Restore(t.Context(), storeOptions(to), c.file, c.trust, nil, &messages)
			if !c.restored {
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
					t.Errorf("got error %v, want one that says %q and the file", err, c.want)
				}
				if _, err := os.Stat(to); !os.IsNotExist(err) {
					t.Errorf("the directory: got %v, want none", err)
				}
				return
			}
			if err != nil || !strings.Contains(messages.String(), c.want) {
				t.Fatalf("got error %v and %q, want none and %q", err, &messages, c.want)
			}
			if after := lookAt(t, to); after != before {
				t.Errorf("restored store: got %+v, want %+v", after, before)
			}
		})
	}
}

// Who writes to the place of the copies knows everything but the key.
func TestAForgedBackupIsNotRestored(t *testing.T) {
	from := usedDir(t)
	keys := keysNamed(t, "a")
	signed, err := os.ReadFile(backedUp(t, from, keys))
	if err != nil {
		t.Fatal(err)
	}
	other := usedDir(t)
	unsigned, err := os.ReadFile(backedUp(t, other, nil))
	if err != nil {
		t.Fatal(err)
	}
	// The database of another store before the block of a good signature, with the right hash.
	var forged bytes.Buffer
	if _, err := keysNamed(t, "b")[0].Sign(&forged, bytes.NewReader(unsigned), "", time.Now()); err != nil {
		t.Fatal(err)
	}
	grafted := rehash(append(bytes.Clone(unsigned[:len(unsigned)-32]), signed[len(signed)-32-512:len(signed)-32]...))
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"signed with a key of the forger":   {forged.Bytes(), `--backup-key-file has only "a"`},
		"with the signature of another one": {grafted, `key "a" did not sign it, so it was changed or forged`},
		"with its signature cut off":        {rehash(signed[:len(signed)-32-512]), "it is not signed"},
		"cut off":                           {signed[:len(signed)/2/512*512+32], "its hash is wrong, so it was damaged or cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "restored")
			for _, from := range []string{"-", filepath.Join(t.TempDir(), "copy")} {
				if from != "-" {
					if err := os.WriteFile(from, c.content, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				err := Restore(t.Context(), storeOptions(to), from, Trust{Keys: keys}, bytes.NewReader(c.content), io.Discard)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("--from=%s: got error %v, want one that says %q", from, err, c.want)
				}
			}
			if left, err := filepath.Glob(to + "*"); err != nil || len(left) > 0 {
				t.Errorf("files: got %q and error %v, want none", left, err)
			}
		})
	}
}

func TestACheckSaysWhoMadeABackup(t *testing.T) {
	from := usedDir(t)
	signed, unsigned := backedUp(t, from, keysNamed(t, "a")), backedUp(t, from, nil)
	_, by, err := Check(t.Context(), signed, backend.Prefix, t.TempDir(), Trust{Keys: keysNamed(t, "a")})
	if err != nil || by.Unverified != nil || by.Origin == nil || by.Origin.Key != "a" {
		t.Errorf("signed: got %+v and error %v, want key a", by, err)
	}
	_, by, err = Check(t.Context(), unsigned, backend.Prefix, t.TempDir(), Trust{Keys: keysNamed(t, "a")})
	if err != nil || by.Unverified == nil || by.Origin != nil {
		t.Errorf("not signed: got %+v and error %v, want that it is unverified", by, err)
	}
}

// etcdutl and earlier versions of ours open all that is before the hash as a database.
func TestASignedBackupIsASnapshotOfEtcd(t *testing.T) {
	content, err := os.ReadFile(backedUp(t, usedDir(t), keysNamed(t, "a")))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(rehash(content[:len(content)-32]), content) {
		t.Error("the hash: got another one than that of all before it")
	}
	file := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(file, content[:len(content)-32], 0o600); err != nil {
		t.Fatal(err)
	}
	database, err := bolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatalf("opening the database with the signature behind it: %v", err)
	}
	if err := database.View(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			t.Errorf("got %v, want a sound database", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := database.Close(); err != nil {
		t.Error(err)
	}
}
