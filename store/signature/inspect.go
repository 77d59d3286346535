// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"time"
)

// Snapshot is a complete copy of a store.
type Snapshot struct {
	// Origin is the content of its signature, nil if it has none.
	Origin *Origin
	// Unverified is why it is not proven who created the copy: it is not signed, or signed with an
	// unknown key. It is nil if a key has verified the copy.
	Unverified error

	database, block int64
	sum             []byte
}

// Inspect reads a file. An error means that it must not be restored: it is not a snapshot, it was
// damaged, cut off or forged, or it is another copy than the one with the expected name. Without an
// expected name, a copy that was signed with a name is refused.
func Inspect(path, expected string, keys Keys) (Snapshot, error) {
	file, err := os.Open(path)
	if err != nil {
		return Snapshot{}, err
	}
	found, err := inspect(file, expected, keys)
	return found, errors.Join(err, file.Close())
}

func inspect(file *os.File, expected string, keys Keys) (Snapshot, error) {
	info, err := file.Stat()
	if err != nil {
		return Snapshot{}, err
	}
	// The size of the database is a multiple of 512 bytes, which distinguishes the file from one
	// without hash.
	found := Snapshot{database: info.Size() - sha256.Size}
	if found.database <= 0 || found.database%blockSize != 0 {
		return Snapshot{}, fmt.Errorf("it has %d bytes, which no etcd snapshot has", info.Size())
	}
	block := make([]byte, blockSize)
	if _, err := file.ReadAt(block, found.database-blockSize); err != nil {
		return Snapshot{}, err
	}
	if bytes.HasPrefix(block, []byte(family)) {
		found.database, found.block = found.database-blockSize, blockSize
		if found.Origin, err = parseOrigin(block); err != nil {
			return Snapshot{}, err
		}
	}
	var mac hash.Hash
	if found.Unverified = found.unverified(keys); found.Unverified == nil {
		mac = hmac.New(sha256.New, keys.named(found.Origin.Key).secret)
	}
	database := io.Discard
	if mac != nil {
		database = mac
	}
	if err := found.checkHash(file, database); err != nil {
		return Snapshot{}, err
	}
	if mac == nil {
		return found, nil
	}
	_, _ = mac.Write(block[:macAt])
	if !hmac.Equal(mac.Sum(nil), block[macAt:]) {
		return Snapshot{}, fmt.Errorf("its signature is wrong: key %q did not sign it, so it was changed or forged", found.Origin.Key)
	}
	return found, found.Origin.mustBe(expected)
}

func parseOrigin(block []byte) (*Origin, error) {
	encoded, known := bytes.CutPrefix(block[:macAt], []byte(form))
	if !known {
		return nil, fmt.Errorf("its signature has the form %.16q, but this version knows only %q: restore it with a later version", block, form)
	}
	var origin Origin
	if err := json.Unmarshal(bytes.TrimRight(encoded, "\x00"), &origin); err != nil {
		return nil, fmt.Errorf("its signature cannot be read, so it was damaged or forged: %w", err)
	}
	return &origin, nil
}

// unverified is why none of the keys can verify the copy.
func (s Snapshot) unverified(keys Keys) error {
	switch {
	case s.Origin == nil:
		return errors.New("it is not signed, so nothing proves who created it")
	case len(keys) == 0:
		return fmt.Errorf("it claims to be signed with key %q, but no --backup-key-file is set to verify that", s.Origin.Key)
	case keys.named(s.Origin.Key) == nil:
		return fmt.Errorf("it claims to be signed with key %q, but --backup-key-file has only %s", s.Origin.Key, keys.names())
	}
	return nil
}

// read copies the database, and returns the hash of database and signature.
func (s Snapshot) read(file io.Reader, database io.Writer) ([]byte, error) {
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(sum, database), file, s.database); err != nil {
		return nil, err
	}
	if _, err := io.CopyN(sum, file, s.block); err != nil {
		return nil, err
	}
	return sum.Sum(nil), nil
}

// checkHash compares the hash with the contents of the file, and copies the database.
func (s *Snapshot) checkHash(file io.Reader, database io.Writer) error {
	sum, err := s.read(file, database)
	if err != nil {
		return err
	}
	want, err := io.ReadAll(io.LimitReader(file, sha256.Size+1))
	if err != nil {
		return err
	}
	if s.sum = sum; !bytes.Equal(s.sum, want) {
		return errors.New("its hash is wrong, so it was damaged or cut off")
	}
	return nil
}

// mustBe refuses a verified copy that has the name of another one.
func (o Origin) mustBe(expected string) error {
	made := o.Made.Format(time.RFC3339)
	switch {
	case o.Name == expected:
		return nil
	case o.Name == "" && !ofServer(expected):
		return nil
	case o.Name == "":
		return fmt.Errorf(
			"it was made by hand at %s, but it is called %q, a name that only a server gives to its copies: rename it if it is the one that you want", made, expected)
	case expected == "":
		return fmt.Errorf("it was signed as %q of %s: standard input has no name, so add --name=%s if that is the one that you want", o.Name,
			made, o.Name)
	}
	return fmt.Errorf("it was signed as %q of %s, but it is called %q: add --name=%s if that is the one that you want", o.Name, made, expected,
		o.Name)
}

// ofServer reports whether a name is like one that servers give to their copies.
func ofServer(name string) bool {
	return strings.HasPrefix(name, "sets-") && strings.Contains(name, ".backup")
}

// CopyDatabase copies the database from the file that was inspected. It fails if the file has
// changed since.
func (s Snapshot) CopyDatabase(to io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	sum, err := s.read(file, to)
	if errors.Is(err, io.EOF) || err == nil && !bytes.Equal(sum, s.sum) {
		err = fmt.Errorf("%q has changed since it was checked", path)
	}
	return errors.Join(err, file.Close())
}
