// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	utilversion "k8s.io/apimachinery/pkg/util/version"
)

const (
	lockFile    = "lock"
	versionFile = "version.json"
	// socketFile contains the path of the socket of the etcd that uses the directory.
	socketFile = "socket"

	// dataLayout counts incompatible changes of the contents of the directory.
	dataLayout = 1
)

// dataVersion is the content of versionFile.
type dataVersion struct {
	// Layout is the dataLayout of the server that wrote the directory.
	Layout int `json:"layout"`
	// Etcd is the minor version of the etcd that last wrote the directory. Etcd can read data of
	// its own and the previous minor version.
	Etcd string `json:"etcd"`
}

// Dir is a directory that only this process may use.
type Dir struct {
	path string
	lock *fileutil.LockedFile
}

// OpenDir makes sure that this server may use path, before it writes anything there. The directory
// must be empty or absent, or come from a server whose data this version can read, and no running
// server may use it.
func OpenDir(path string) (*Dir, error) {
	if err := os.MkdirAll(path, fileutil.PrivateDirMode); err != nil {
		return nil, fmt.Errorf("creating the data directory %q: %w; choose another one with --data-dir", path, err)
	}
	if err := refuseUnknownContents(path); err != nil {
		return nil, err
	}
	lock, err := fileutil.TryLockFile(filepath.Join(path, lockFile), os.O_WRONLY|os.O_CREATE, fileutil.PrivateFileMode)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("the data directory %q is in use by another process; stop that one, or choose another directory with --data-dir",
			path)
	}
	if err != nil {
		return nil, fmt.Errorf("locking the data directory %q: %w; it must be writable", path, err)
	}
	dir := &Dir{path: path, lock: lock}
	if err := dir.checkVersion(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return dir, nil
}

// refuseUnknownContents refuses a directory that has contents but no version file of this server.
func refuseUnknownContents(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("reading the data directory %q: %w; choose another one with --data-dir", path, err)
	}
	stranger := ""
	for _, entry := range entries {
		switch name := entry.Name(); name {
		case versionFile:
			return nil
		case lockFile, socketFile, versionFile + ".next", "lost+found":
		default:
			stranger = name
		}
	}
	if stranger != "" {
		return fmt.Errorf(
			"the data directory %q was not written by this server: it contains %q but no %s; choose an empty directory with --data-dir", path, stranger,
			versionFile)
	}
	return nil
}

// checkVersion refuses data that another version wrote in a format that this version cannot read. A
// new directory gets this version.
func (d *Dir) checkVersion() error {
	content, err := os.ReadFile(filepath.Join(d.path, versionFile))
	if errors.Is(err, os.ErrNotExist) {
		return d.writeVersion()
	}
	if err != nil {
		return fmt.Errorf("reading the version of the data directory %q: %w", d.path, err)
	}
	var found dataVersion
	if err := json.Unmarshal(content, &found); err != nil {
		return fmt.Errorf("the data directory %q is damaged: %s does not contain a version: %w; restore it from a backup", d.path, versionFile, err)
	}
	if found.Layout != dataLayout {
		return fmt.Errorf("the data directory %q has layout %d, this server reads layout %d; run the version of the server that wrote it", d.path,
			found.Layout, dataLayout)
	}
	return d.checkEtcdVersion(found.Etcd)
}

func (d *Dir) checkEtcdVersion(found string) error {
	wrote, err := utilversion.ParseGeneric(found)
	if err != nil {
		return fmt.Errorf("the data directory %q is damaged: %s names etcd version %q: %w; restore it from a backup", d.path, versionFile, found,
			err)
	}
	ours := utilversion.MustParseGeneric(etcdMinor())
	if wrote.Major() == ours.Major() && (wrote.Minor() == ours.Minor() || wrote.Minor()+1 == ours.Minor()) {
		return nil
	}
	return fmt.Errorf(
		"the data directory %q was written by etcd %s, this server embeds etcd %s and reads only that and the minor version before it; run the version of the server that wrote it, or one in between", d.path, found, etcdMinor())
}

// writeVersion replaces the version file in one step, so that a crash leaves
// either the old one or the new one.
func (d *Dir) writeVersion() error {
	content, err := json.Marshal(dataVersion{Layout: dataLayout, Etcd: etcdMinor()})
	if err != nil {
		return fmt.Errorf("encoding the data directory's version: %w", err)
	}
	target := filepath.Join(d.path, versionFile)
	next := target + ".next"
	if err := os.WriteFile(next, append(content, '\n'), fileutil.PrivateFileMode); err != nil {
		return fmt.Errorf("writing to the data directory %q: %w", d.path, err)
	}
	if err := os.Rename(next, target); err != nil {
		return fmt.Errorf("writing to the data directory %q: %w", d.path, err)
	}
	return nil
}

// writeSocket records how other processes of the same user can reach the etcd that uses the
// directory.
func (d *Dir) writeSocket(endpoint string) error {
	if err := os.WriteFile(filepath.Join(d.path, socketFile), []byte(endpoint+"\n"), fileutil.PrivateFileMode); err != nil {
		return fmt.Errorf("writing to the data directory %q: %w", d.path, err)
	}
	return nil
}

func (d *Dir) removeSocket() error { return os.RemoveAll(filepath.Join(d.path, socketFile)) }

// unusable adds what to do about a damaged directory.
func (d *Dir) unusable(err error) error {
	return fmt.Errorf("the data directory %q cannot be used: %w; restore it from a backup, or choose another one with --data-dir", d.path, err)
}

// Close releases the directory for other processes.
func (d *Dir) Close() error { return d.lock.Close() }

// etcdMinor is the version of the embedded etcd without the patch number.
func etcdMinor() string {
	parts := strings.SplitN(version.Version, ".", 3)
	return parts[0] + "." + parts[1]
}
