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
	// checkLimit is the size in bytes of the largest database that is read completely before each
	// start. Such a check takes less than a second. For larger databases, only the outline is
	// checked.
	checkLimit = 256 << 20

	// openTimeout limits the wait for a lock. Only a process that does not respect the lock of the
	// data directory could hold it.
	openTimeout = 5 * time.Second
)

// checkData returns how the data of etcd in a data directory is damaged. It checks before etcd
// starts, which would end the process or try a repair, and changes nothing. A directory that etcd
// has never used is valid.
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

// logOf is the path of etcd's log in a data directory.
func logOf(dataDir string) string { return filepath.Join(dataDir, "member", "wal") }

// checkLog reads the log from the last snapshot on. A torn record at the end is no damage: a power
// cut leaves one behind. But the log must contain everything that was applied to the database,
// because that was written to the log first.
func checkLog(path string, applied uint64) error {
	snapshots, err := wal.ValidSnapshotEntries(zap.NewNop(), path)
	if err != nil {
		return err
	}
	if len(snapshots) == 0 {
		return errors.New("it has no readable beginning")
	}
	latest := snapshots[len(snapshots)-1]
	if _, err := wal.Verify(zap.NewNop(), path, latest); err != nil {
		return err
	}
	log, err := wal.OpenForRead(zap.NewNop(), path, latest)
	if err != nil {
		return err
	}
	_, _, entries, err := log.ReadAll() // this also closes the log
	if err != nil {
		return err
	}
	last := latest.GetIndex()
	if len(entries) > 0 {
		last = entries[len(entries)-1].GetIndex()
	}
	if last < applied {
		return fmt.Errorf("it was cut off: it ends with entry %d, but the database has entry %d", last, applied)
	}
	return nil
}

// checkDatabase also returns the last entry of the log that was applied to the database.
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

// checkPages reads the contents of the database. It checks the size first, because the process
// cannot survive a read beyond the end of the file.
func checkPages(tx *bbolt.Tx, size int64) (err error) {
	if size < tx.Size() {
		return fmt.Errorf("it was cut off after %d of %d bytes", size, tx.Size())
	}
	if tx.Size() > checkLimit {
		return nil
	}
	// For invalid pages, the library does not return errors but panics, and the panics of its own
	// check would be in another goroutine.
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
