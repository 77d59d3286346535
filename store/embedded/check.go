// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
)

const (
	// checkLimit is the size in bytes of the largest database that is read through
	// before each start. Such a check takes less than a second; of larger ones
	// only the outline is looked at.
	checkLimit = 256 << 20

	// openTimeout bounds the wait for a lock that only a process could hold which
	// does not respect that of the data directory.
	openTimeout = 5 * time.Second
)

// checkData says how what etcd keeps in a data directory is damaged. It looks
// before etcd does, which would end the process or try a repair, and changes
// nothing. A directory that etcd has never used is in order.
func checkData(dataDir string) error {
	database := filepath.Join(dataDir, "member", "snap", "db")
	log := logOf(dataDir)
	switch hasDatabase, hasLog := fileutil.Exist(database), fileutil.Exist(log); {
	case !hasDatabase && !hasLog:
		return nil
	case !hasDatabase:
		return fmt.Errorf("the database %s is missing", database)
	case !hasLog:
		return fmt.Errorf("the log %s is missing", log)
	}
	applied, err := checkDatabase(database)
	if err != nil {
		return fmt.Errorf("the database %s is damaged: %w", database, err)
	}
	if err := checkLog(log, applied); err != nil {
		return fmt.Errorf("the log %s is damaged: %w", log, err)
	}
	return nil
}

// logOf is where the etcd of a data directory keeps its log.
func logOf(dataDir string) string { return filepath.Join(dataDir, "member", "wal") }

// checkLog reads the log from the last snapshot on. A torn record at its end is
// what a power cut leaves behind, and no damage. But it has all that was applied
// to the database, since that was on disk before.
func checkLog(path string, applied uint64) error {
	snapshots, err := wal.ValidSnapshotEntries(zap.NewNop(), path)
	if err != nil {
		return err
	}
	if len(snapshots) == 0 {
		return errors.New("it has no beginning that can be read")
	}
	latest := snapshots[len(snapshots)-1]
	if _, err := wal.Verify(zap.NewNop(), path, latest); err != nil {
		return err
	}
	log, err := wal.OpenForRead(zap.NewNop(), path, latest)
	if err != nil {
		return err
	}
	_, _, entries, err := log.ReadAll() // which closes it
	if err != nil {
		return err
	}
	last := latest.GetIndex()
	if len(entries) > 0 {
		last = entries[len(entries)-1].GetIndex()
	}
	if last < applied {
		return fmt.Errorf("it was cut off: it ends with entry %d, and the database has entry %d", last, applied)
	}
	return nil
}

// checkDatabase also returns up to which entry of the log it has all.
func checkDatabase(path string) (applied uint64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	db, err := bbolt.Open(path, fileutil.PrivateFileMode, &bbolt.Options{ReadOnly: true, Timeout: openTimeout})
	if err != nil {
		return 0, err
	}
	err = db.View(func(tx *bbolt.Tx) error {
		if err := checkPages(tx, info.Size()); err != nil {
			return err
		}
		if meta := tx.Bucket(schema.Meta.Name()); meta != nil {
			if index := meta.Get(schema.MetaConsistentIndexKeyName); len(index) == 8 {
				applied = binary.BigEndian.Uint64(index)
			}
		}
		return nil
	})
	return applied, errors.Join(err, db.Close())
}

// checkPages reads what the database holds. The size comes first: reading beyond
// the end of the file cannot be survived.
func checkPages(tx *bbolt.Tx, size int64) (err error) {
	if size < tx.Size() {
		return fmt.Errorf("it was cut off after %d of %d bytes", size, tx.Size())
	}
	if tx.Size() > checkLimit {
		return nil
	}
	// The library has no errors for pages that make no sense, only panics; those of
	// its own check would be in a goroutine of its own.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	return tx.ForEach(func(_ []byte, bucket *bbolt.Bucket) error {
		return bucket.ForEach(func(_, _ []byte) error { return nil })
	})
}
