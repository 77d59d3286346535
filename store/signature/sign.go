// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// family begins the block of each signature, and form that of signatures that this version
	// knows.
	family = "sets-signature-"
	form   = family + "1"
	// blockSize is the size of the block between the database and its hash. With it, etcd's
	// programs still accept the size of the snapshot.
	blockSize = 512
	// macAt is the position in the block of the HMAC-SHA-256 of everything before it.
	macAt = blockSize - sha256.Size
)

// Origin is the content of a signature.
type Origin struct {
	// Name is the name of the copy in its place. It is empty for a copy that was made by hand.
	Name string `json:"name,omitempty"`
	// Made is when the copy was begun, in seconds.
	Made time.Time `json:"made"`
	// Key is the name of the key that signed it.
	Key string `json:"key"`
}

// String is for messages.
func (o Origin) String() string {
	name := o.Name
	if name == "" {
		name = "a copy made by hand"
	}
	return fmt.Sprintf("%s of %s, signed with key %q", name, o.Made.Format(time.RFC3339), o.Key)
}

// Sign copies a snapshot of etcd and signs it while copying, so it needs no memory for the
// snapshot. It returns the size of the copy, and an error if the snapshot was cut off.
func (k Key) Sign(to io.Writer, snapshot io.Reader, name string, made time.Time) (int64, error) {
	block, err := blockOf(Origin{Name: name, Made: made.UTC().Truncate(time.Second), Key: k.Name})
	if err != nil {
		return 0, err
	}
	hash, mac := sha256.New(), hmac.New(sha256.New, k.secret)
	database := &allButHash{to: io.MultiWriter(to, hash, mac)}
	if _, err := io.Copy(database, snapshot); err != nil {
		return 0, err
	}
	if database.size%blockSize != 0 || !hmac.Equal(hash.Sum(nil), database.held) {
		return 0, errors.New("the hash of the snapshot is wrong: it was cut off")
	}
	_, _ = mac.Write(block[:macAt])
	copy(block[macAt:], mac.Sum(nil))
	_, _ = hash.Write(block)
	if _, err := to.Write(hash.Sum(block)); err != nil {
		return 0, err
	}
	return database.size + blockSize + sha256.Size, nil
}

// blockOf is the block of a signature without its HMAC.
func blockOf(origin Origin) ([]byte, error) {
	encoded, err := json.Marshal(origin)
	if err != nil {
		return nil, fmt.Errorf("encoding the origin of a copy: %w", err)
	}
	if len(form)+len(encoded) > macAt {
		return nil, fmt.Errorf("the name %q has %d bytes, which is too long for a signature", origin.Name, len(origin.Name))
	}
	block := make([]byte, blockSize)
	copy(block[copy(block, form):], encoded)
	return block, nil
}

// allButHash writes everything except for the last bytes, which are the hash of a snapshot.
type allButHash struct {
	to   io.Writer
	held []byte
	size int64
}

func (w *allButHash) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	if more := len(w.held) - sha256.Size; more > 0 {
		n, err := w.to.Write(w.held[:more])
		w.size += int64(n)
		if err != nil {
			return 0, err
		}
		w.held = append(w.held[:0], w.held[more:]...)
	}
	return len(p), nil
}
