// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"

	"statefulset.dev/store/embedded"
)

// recordFile is where a disk names its owner.
const recordFile = "member.json"

// stage is how far a member has come on its disk.
type stage string

const (
	// beginning disks are about to become the first disk of the store.
	beginning stage = "beginning"
	// joining disks are about to become the disk of another member. Data on them does not count.
	joining stage = "joining"
	// owned disks belong to members.
	owned stage = "member"
)

// record is the content of a disk's recordFile.
type record struct {
	Name  string `json:"name"`
	Stage stage  `json:"stage"`
	// Cluster is the random name of the store.
	Cluster string `json:"cluster"`
}

// disk is what is known about a disk.
type disk struct {
	record
	// used is true if an etcd has run on it.
	used bool
	// busy is true if another process is using it, such as a restore.
	busy bool
}

// isRestored reports whether the data on the disk came from a backup.
func (d disk) isRestored() bool { return d.used && d.Name == "" }

func readDisk(dataDir string) (disk, error) {
	found := disk{used: embedded.HasLog(dataDir), busy: embedded.InUse(dataDir)}
	content, err := os.ReadFile(filepath.Join(dataDir, recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return disk{}, fmt.Errorf("reading the disk's owner: %w", err)
	}
	if err := json.Unmarshal(content, &found.record); err != nil || found.Name == "" {
		return disk{}, fmt.Errorf("%s does not name the disk's owner: it contains %q", filepath.Join(dataDir, recordFile), content)
	}
	return found, nil
}

// write replaces the record in one step, and survives a power cut.
func (r record) write(dataDir string) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding the disk's owner: %w", err)
	}
	target := filepath.Join(dataDir, recordFile)
	if err := writeSynced(target+".next", append(content, '\n')); err != nil {
		return fmt.Errorf("writing the disk's owner: %w", err)
	}
	if err := os.Rename(target+".next", target); err != nil {
		return fmt.Errorf("writing the disk's owner: %w", err)
	}
	return syncDirectory(dataDir)
}

func writeSynced(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileutil.PrivateFileMode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

func syncDirectory(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening %q: %w", path, err)
	}
	return errors.Join(directory.Sync(), directory.Close())
}
