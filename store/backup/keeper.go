// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"statefulset.dev/store/recovery"
	"statefulset.dev/store/signature"
)

const (
	// patience limits the time for one copy, from the list to the removal of an older copy.
	patience = time.Hour
	// tidyPatience limits the time to remove a copy that failed.
	tidyPatience = time.Minute
)

// Keeper creates copies of a store.
type Keeper struct {
	Options
	// Place is where the copies are stored.
	Place Place
	// Etcd is the etcd to copy, and Prefix the prefix of our keys.
	Etcd   *clientv3.Client
	Prefix string
	// Check verifies the signature of a file by the file's name, restores the file, and returns
	// what it contains.
	Check func(ctx context.Context, file string) (recovery.Contents, error)
	// Now returns the time.
	Now func() time.Time
	// Publish publishes the state of the backups. Nil publishes nothing.
	Publish func(context.Context, Report) error
}

// Backup is a copy that was verified.
type Backup struct {
	// Name is the name of the file in its place.
	Name     string
	Size     int64
	Contents recovery.Contents
	// Key is the name of the key that signed it, empty if it is not signed.
	Key string
	// Removed are older copies that were removed after this one was verified.
	Removed []string
}

// once creates a copy, verifies it, and then removes copies that are too old. If it fails, all
// verified copies stay, except those that it has removed already.
func (k *Keeper) once(ctx context.Context) (made Backup, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	names, err := k.Place.List(ctx)
	if err != nil {
		return Backup{}, fmt.Errorf("listing the copies in %s: %w", k.To, err)
	}
	keys, err := ReadKeys(k.KeyFile)
	if err != nil {
		return Backup{}, err
	}
	next := nextCopy(parseCopies(names), k.Now())
	work, err := os.MkdirTemp(k.Scratch, "backup-")
	if err != nil {
		return Backup{}, fmt.Errorf("creating a directory in --backup-scratch: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	made = Backup{Name: next.name()}
	if len(keys) > 0 {
		made.Key = keys[0].Name
	}
	if made.Size, made.Contents, err = k.verified(ctx, next, keys, work); err != nil {
		return Backup{}, errors.Join(err, k.tidy(ctx, next))
	}
	next.verified = true
	made.Removed, err = k.retire(ctx, next)
	return made, err
}

// verified copies the store to the place, reads the copy back, restores it, and compares it with
// the store. Then it gives the copy its final name.
func (k *Keeper) verified(ctx context.Context, next copyOf, keys signature.Keys, work string) (int64, recovery.Contents, error) {
	written, err := k.write(ctx, next, keys, filepath.Join(work, "written"))
	if err != nil {
		return 0, recovery.Contents{}, err
	}
	read := filepath.Join(work, next.name()) // the name is part of the signature
	returned, err := k.read(ctx, next, read)
	if err != nil {
		return 0, recovery.Contents{}, err
	}
	if returned != written {
		return 0, recovery.Contents{}, fmt.Errorf("%s in %s is not the same as what was written: got %s, want %s", next.file(), k.To, returned, written)
	}
	restored, err := k.Check(ctx, read)
	if err != nil {
		return 0, recovery.Contents{}, fmt.Errorf("verifying %s: %w", next.file(), err)
	}
	stored, err := recovery.Read(ctx, k.Etcd, k.Prefix, restored.Revision)
	if err != nil {
		return 0, recovery.Contents{}, err
	}
	if restored != stored {
		return 0, recovery.Contents{}, fmt.Errorf("%s contains %s with digest %.16s, but the store contains %s with digest %.16s", next.file(), restored,
			restored.Digest, stored, stored.Digest)
	}
	if err := k.Place.Rename(ctx, next.file(), next.name()); err != nil {
		return 0, recovery.Contents{}, fmt.Errorf("renaming %s after it was verified: %w", next.file(), err)
	}
	return written.size, restored, nil
}

// fingerprint distinguishes files.
type fingerprint struct {
	size   int64
	sha256 [sha256.Size]byte
}

func (p fingerprint) String() string { return fmt.Sprintf("%d bytes, sha256 %.8x", p.size, p.sha256) }

// write copies the store to a local file first, because a place must know the size.
func (k *Keeper) write(ctx context.Context, next copyOf, keys signature.Keys, path string) (fingerprint, error) {
	snapshot, err := k.Etcd.Snapshot(ctx)
	if err != nil {
		return fingerprint{}, fmt.Errorf("reading the store: %w", err)
	}
	defer snapshot.Close()
	written, err := create(path, func(to io.Writer) error {
		if len(keys) > 0 {
			_, err := keys[0].Sign(to, snapshot, next.name(), next.made)
			return err
		}
		_, err := io.Copy(to, snapshot)
		return err
	})
	if err != nil {
		return fingerprint{}, fmt.Errorf("copying the store to --backup-scratch: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return fingerprint{}, fmt.Errorf("reading the copy: %w", err)
	}
	defer file.Close()
	if err := k.Place.Put(ctx, next.file(), file, written.size); err != nil {
		return fingerprint{}, fmt.Errorf("writing %s to %s: %w", next.file(), k.To, err)
	}
	return written, nil
}

func (k *Keeper) read(ctx context.Context, next copyOf, path string) (fingerprint, error) {
	read, err := create(path, func(to io.Writer) error { return k.Place.Get(ctx, next.file(), to) })
	if err != nil {
		return fingerprint{}, fmt.Errorf("reading %s back from %s: %w", next.file(), k.To, err)
	}
	return read, nil
}

// create writes a new file.
func create(path string, fill func(io.Writer) error) (fingerprint, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fingerprint{}, err
	}
	hash := sha256.New()
	err = errors.Join(fill(io.MultiWriter(file, hash)), file.Close())
	if err != nil {
		return fingerprint{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return fingerprint{}, err
	}
	return fingerprint{info.Size(), [sha256.Size]byte(hash.Sum(nil))}, nil
}

// retire removes copies that the verified copy makes obsolete.
func (k *Keeper) retire(ctx context.Context, verified copyOf) (removed []string, err error) {
	names, err := k.Place.List(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing the copies in %s: %w", k.To, err)
	}
	var errs []error
	for _, c := range outdated(parseCopies(names), verified, k.Keep) {
		if err := k.Place.Remove(ctx, c.file()); err != nil {
			errs = append(errs, fmt.Errorf("removing %s from %s: %w", c.file(), k.To, err))
			continue
		}
		removed = append(removed, c.file())
	}
	return removed, errors.Join(errs...)
}

// tidy removes the remains of a failed copy, even if the time for the copy has run out.
func (k *Keeper) tidy(ctx context.Context, failed copyOf) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyPatience)
	defer cancel()
	if err := k.Place.Remove(ctx, failed.file()); err != nil {
		return fmt.Errorf("removing %s from %s: %w", failed.file(), k.To, err)
	}
	return nil
}
