// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const ofServerName = "sets-00000042-20261122T120000Z-K3M5N7PQ.backup"

var made = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// secret is one of 32 bytes.
func secret(fill byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, leastSecret))
}

func keysOf(t *testing.T, lines ...string) Keys {
	t.Helper()
	keys, err := ReadKeys(write(t, "keys", []byte(strings.Join(lines, "\n"))))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// hashed has the form of a snapshot of etcd.
func hashed(database []byte) []byte {
	sum := sha256.Sum256(database)
	return append(bytes.Clone(database), sum[:]...)
}

func signed(t *testing.T, key Key, name string) []byte {
	t.Helper()
	var out bytes.Buffer
	snapshot := iotest.HalfReader(bytes.NewReader(hashed(bytes.Repeat([]byte("database"), 1024))))
	size, err := key.Sign(&out, snapshot, name, made)
	if err != nil || size != int64(out.Len()) {
		t.Fatalf("signing: got size %d and error %v, want %d and none", size, err, out.Len())
	}
	return out.Bytes()
}

func TestACopyIsVerifiedOrRefused(t *testing.T) {
	one, two := "one "+secret(1), "two "+secret(2)
	both := keysOf(t, two, one)
	copied := signed(t, keysOf(t, one)[0], ofServerName)
	byHand := signed(t, keysOf(t, one)[0], "")
	// rehashed is what a forger makes who knows everything but the key.
	rehashed := func(change func([]byte)) []byte {
		forged := bytes.Clone(copied[:len(copied)-sha256.Size])
		change(forged)
		return hashed(forged)
	}
	withoutSignature := hashed(copied[:len(copied)-sha256.Size-blockSize])
	for name, c := range map[string]struct {
		content    []byte
		expected   string
		keys       Keys
		want       string // of an error
		unverified string
	}{
		"signed with a key":                 {content: copied, expected: ofServerName, keys: keysOf(t, one)},
		"signed with the key before":        {content: copied, expected: ofServerName, keys: both},
		"made by hand, under any name":      {content: byHand, expected: "my.backup", keys: both},
		"made by hand, from standard input": {content: byHand, keys: both},
		"made by hand, as if a server had": {
			content: byHand, expected: ofServerName, keys: both, want: "it was made by hand at 2026-11-22T12:00:00Z"},
		"of another name": {content: copied, expected: "sets-00000043-20261122T180000Z-QWERTYUI.backup", keys: both,
			want: `it was signed as "` + ofServerName + `" of 2026-11-22T12:00:00Z`},
		"of no name":                       {content: copied, keys: both, want: "add --name=" + ofServerName},
		"never verified after it was made": {content: copied, expected: ofServerName + ".unverified", keys: both, want: "it was signed as"},
		"changed in its database": {content: rehashed(func(b []byte) { b[100] ^= 1 }), expected: ofServerName, keys: both,
			want: `key "one" did not sign it, so it was changed or forged`},
		"changed in its date": {
			content:  rehashed(func(b []byte) { copy(b, bytes.Replace(b, []byte("2026-11-22T12"), []byte("2026-11-22T13"), 1)) }),
			expected: ofServerName, keys: both, want: "so it was changed or forged"},
		"changed in its name": {
			content:  rehashed(func(b []byte) { copy(b, bytes.Replace(b, []byte("00000042"), []byte("00000043"), 1)) }),
			expected: strings.Replace(ofServerName, "42", "43", 1), keys: both, want: "so it was changed or forged"},
		"changed behind what it says": {content: rehashed(func(b []byte) { b[len(b)-sha256.Size-1] = ' ' }), expected: ofServerName,
			keys: both, want: "so it was damaged or forged"},
		"with a signature that cannot be read": {content: rehashed(func(b []byte) { b[len(b)-blockSize+len(form)] = 'x' }),
			expected: ofServerName, keys: both, want: "its signature cannot be read"},
		"with a signature of a later form": {content: rehashed(func(b []byte) { b[len(b)-blockSize+len(form)-1] = '2' }),
			expected: ofServerName, keys: both, want: "with a later version"},
		"of a secret with the name of ours": {
			content: copied, expected: ofServerName, keys: keysOf(t, "one "+secret(3)), want: `key "one" did not sign it`},
		"of an unknown key": {content: copied, expected: ofServerName, keys: keysOf(t, two),
			unverified: `claims to be signed with key "one", but --backup-key-file has only "two"`},
		"signed, and no key is there": {content: copied, expected: ofServerName, unverified: "no --backup-key-file is set"},
		"without a signature":         {content: withoutSignature, expected: ofServerName, keys: both, unverified: "it is not signed"},
		"cut off in the database": {
			content: copied[:4096+sha256.Size], expected: ofServerName, keys: both, want: "its hash is wrong, so it was damaged or cut off"},
		"cut off before its hash": {
			content: copied[:len(copied)-sha256.Size], expected: ofServerName, keys: both, want: "which no etcd snapshot has"},
		"cut off, with the hash of what is left": {
			content: hashed(copied[:1024]), expected: ofServerName, keys: both, unverified: "it is not signed"},
		"empty": {expected: ofServerName, keys: both, want: "it has 0 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Inspect(write(t, "copy", c.content), c.expected, c.keys)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got error %v, want one that says %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatalf("got error %v, want none", err)
			}
			if got := found.Unverified; (got == nil) != (c.unverified == "") || got != nil && !strings.Contains(got.Error(), c.unverified) {
				t.Errorf("unverified: got %v, want %q", got, c.unverified)
			}
		})
	}
}

func TestWhatHasChangedSinceItWasCheckedIsNotCopied(t *testing.T) {
	keys := keysOf(t, "one "+secret(1))
	content := signed(t, keys[0], "")
	path := write(t, "copy", content)
	found, err := Inspect(path, "", keys)
	if err != nil {
		t.Fatal(err)
	}
	var database bytes.Buffer
	if err := found.CopyDatabase(&database, path); err != nil || database.String() != strings.Repeat("database", 1024) {
		t.Errorf("got %d bytes and error %v, want the database, of 8192", database.Len(), err)
	}
	for name, other := range map[string][]byte{"changed": append([]byte("D"), content[1:]...), "cut off": content[:5000]} {
		if err := os.WriteFile(path, other, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := found.CopyDatabase(io.Discard, path); err == nil || !strings.Contains(err.Error(), "has changed since it was checked") {
			t.Errorf("%s: got error %v, want one that says so", name, err)
		}
	}
}

func TestASnapshotThatWasCutOffIsNotSigned(t *testing.T) {
	key := keysOf(t, "one "+secret(1))[0]
	whole := hashed(bytes.Repeat([]byte("database"), 1024))
	for _, size := range []int{0, 31, 32, 512, 4096, len(whole) - 32, len(whole) - 1} {
		if _, err := key.Sign(io.Discard, bytes.NewReader(whole[:size]), "", made); err == nil {
			t.Errorf("the first %d of %d bytes: got no error, want one", size, len(whole))
		}
	}
	if _, err := key.Sign(io.Discard, bytes.NewReader(whole), strings.Repeat("n", 500), made); err == nil ||
		!strings.Contains(err.Error(), "too long") {
		t.Errorf("a name of 500 bytes: got error %v, want that it is too long", err)
	}
}

func TestAFileOfKeysIsReadOrRefused(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"one key":                       {"one " + secret(1) + "\n", ""},
		"two, with comments":            {"# since May\n\n  two\t" + secret(2) + "\r\none " + secret(1), ""},
		"none":                          {"# one " + secret(1) + "\n", "it has 0 keys: it must have one, or two"},
		"three":                         {"a " + secret(1) + "\nb " + secret(2) + "\nc " + secret(3), "it has 3 keys"},
		"one name twice":                {"a " + secret(1) + "\na " + secret(2), `line 2: key "a" occurs twice`},
		"a secret without a name":       {secret(1), "line 1: it has 1 words, must be NAME SECRET"},
		"a name with a slash":           {"a/b " + secret(1), "line 1: the name of the key must have"},
		"what is not base64":            {"a hunter2!", `the secret of key "a" is not base64`},
		"a secret that can be tried":    {"a aHVudGVyMg==", `the secret of key "a" has 7 bytes, must have 32 to 64`},
		"a file that is something else": {strings.Repeat("x", mostKeyFile+1), "it has more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadKeys(write(t, "keys", []byte(c.content)))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got error %v, want one that says %q", err, c.want)
			}
			if err != nil &&
				(strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "aHVudGVyMg") || strings.Contains(err.Error(), secret(1))) {
				t.Errorf("got error %v, want none that tells a secret", err)
			}
		})
	}
	if _, err := ReadKeys(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a file that is not there: got no error")
	}
}
