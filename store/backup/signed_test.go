// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"statefulset.dev/store/backend"
	"statefulset.dev/store/recovery"
)

func writeKeys(t *testing.T, file string, names ...string) {
	t.Helper()
	var lines strings.Builder
	for _, name := range names {
		lines.WriteString(name + " " + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(name), 32)[:32]) + "\n")
	}
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fetched is the path of a file with the content and the name of a copy.
func fetched(t *testing.T, k *Keeper, name string) string {
	t.Helper()
	var content bytes.Buffer
	if err := k.Place.Get(t.Context(), name, &content); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// restores restores a file with the keys of the keeper, and returns why not.
func restores(t *testing.T, k *Keeper, file string) error {
	t.Helper()
	keys, err := ReadKeys(k.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	o := backend.NewOptions()
	o.DataDir = filepath.Join(t.TempDir(), "restored")
	err = recovery.Restore(t.Context(), o, file, recovery.Trust{Keys: keys}, nil, io.Discard)
	if _, missing := os.Stat(o.DataDir); (missing == nil) != (err == nil) {
		t.Errorf("restoring %s: got error %v and a directory %v, want one of both", file, err, missing == nil)
	}
	return err
}

// TestTheKeyIsChangedWhileCopiesAreMade rotates a key. Copies that the old key signed are restored until the
// old key is removed from the file.
func TestTheKeyIsChangedWhileCopiesAreMade(t *testing.T) {
	k := keeperOf(t, store(t))
	unsigned := mustCopy(t, k)
	k.KeyFile, k.Keep = filepath.Join(t.TempDir(), "keys"), 10
	writeKeys(t, k.KeyFile, "one")
	first := mustCopy(t, k)
	writeKeys(t, k.KeyFile, "two", "one")
	second := mustCopy(t, k)
	if unsigned.Key != "" || first.Key != "one" || second.Key != "two" {
		t.Errorf("keys: got %q, %q and %q, want none, one and two", unsigned.Key, first.Key, second.Key)
	}
	for _, made := range []Backup{first, second} {
		if err := restores(t, k, fetched(t, k, made.Name)); err != nil {
			t.Errorf("with both keys: %s: got error %v, want none", made.Name, err)
		}
	}
	if err := restores(t, k, fetched(t, k, unsigned.Name)); err == nil || !strings.Contains(err.Error(), "it is not signed") {
		t.Errorf("a copy of before: got error %v, want that it is not signed", err)
	}
	writeKeys(t, k.KeyFile, "two")
	if err := restores(t, k, fetched(t, k, first.Name)); err == nil ||
		!strings.Contains(err.Error(), `signed with key "one", but --backup-key-file has only "two"`) {
		t.Errorf("without the key before: got error %v, want the names of both keys", err)
	}
	if err := os.WriteFile(k.KeyFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := k.once(t.Context()); err == nil || !strings.Contains(err.Error(), "--backup-key-file is") ||
		!strings.Contains(err.Error(), "it has 0 keys") {
		t.Errorf("a copy when the keys are lost: got error %v, want one that names the flag", err)
	}
}

// An older copy in the place of the newest one would bring an earlier state back.
func TestACopyUnderTheNameOfAnotherIsRefused(t *testing.T) {
	k := keeperOf(t, store(t))
	k.KeyFile = filepath.Join(t.TempDir(), "keys")
	writeKeys(t, k.KeyFile, "one")
	older, newer := mustCopy(t, k).Name, mustCopy(t, k).Name
	if err := k.Place.Remove(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	if err := k.Place.Rename(t.Context(), older, newer); err != nil {
		t.Fatal(err)
	}
	err := restores(t, k, fetched(t, k, newer))
	if err == nil || !strings.Contains(err.Error(), `it was signed as "`+older+`"`) || !strings.Contains(err.Error(), newer) {
		t.Errorf("got error %v, want the names of both", err)
	}
}
