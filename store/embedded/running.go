// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// statusTimeout limits a request to an etcd that should be running.
const statusTimeout = 5 * time.Second

// CheckUsed returns why a directory is not one that a server has used, nil if it is.
func CheckUsed(dataDir string) error {
	_, err := os.Stat(filepath.Join(dataDir, versionFile))
	return err
}

// InUse reports whether a server uses the directory. The socket that the directory names does not
// prove it, because the directory may be a copy.
func InUse(dataDir string) bool {
	lock, err := fileutil.TryLockFile(filepath.Join(dataDir, lockFile), os.O_WRONLY, fileutil.PrivateFileMode)
	if err == nil {
		err = lock.Close()
	}
	return errors.Is(err, fileutil.ErrLocked)
}

// Running returns the socket of the server that uses the directory.
func Running(ctx context.Context, dataDir string) (endpoint string, err error) {
	content, err := os.ReadFile(filepath.Join(dataDir, socketFile))
	if err != nil {
		return "", err
	}
	endpoint = strings.TrimSpace(string(content))
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	_, err = client.Status(ctx, endpoint)
	return endpoint, errors.Join(err, client.Close())
}
