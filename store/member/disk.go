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

// recordFile is where a disk says whose it is.
const recordFile = "member.json"

// stage is how far a member has come on its disk.
type stage string

const (
	// beginning disks are about to become the first of the store.
	beginning stage = "beginning"
	// joining disks are about to become those of one more member. Nothing on them counts.
	joining stage = "joining"
	// taken disks are those of members.
	taken stage = "member"
)

// record is what a disk says.
type record struct {
	Name  string `json:"name"`
	Stage stage  `json:"stage"`
	// Cluster is the name of the store, a random one.
	Cluster string `json:"cluster"`
}

// disk is what is known of a disk.
type disk struct {
	record
	// used says that an etcd has run on it.
	used bool
	// busy says that another process is using it, such as a restoration.
	busy bool
}

// isRestored says whether what is on the disk came from a backup.
func (d disk) isRestored() bool { return d.used && d.Name == "" }

func readDisk(dataDir string) (disk, error) {
	found := disk{used: embedded.HasLog(dataDir), busy: embedded.InUse(dataDir)}
	content, err := os.ReadFile(filepath.Join(dataDir, recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return disk{}, fmt.Errorf("reading whose the disk is: %w", err)
	}
	if err := json.Unmarshal(content, &found.record); err != nil || found.Name == "" {
		return disk{}, fmt.Errorf("%s does not say whose the disk is: it holds %q", filepath.Join(dataDir, recordFile), content)
	}
	return found, nil
}

// write replaces the record in one step that outlives a power cut.
func (r record) write(dataDir string) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding whose the disk is: %w", err)
	}
	target := filepath.Join(dataDir, recordFile)
	if err := writeSynced(target+".next", append(content, '\n')); err != nil {
		return fmt.Errorf("writing whose the disk is: %w", err)
	}
	if err := os.Rename(target+".next", target); err != nil {
		return fmt.Errorf("writing whose the disk is: %w", err)
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
