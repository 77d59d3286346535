// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const lockPoll = 300 * time.Millisecond

var errLocked = errors.New("locked by another command")

// tryLock locks the file at path, creating it, until the returned function is called or this
// process ends. It fails with errLocked at once when another process holds the lock.
func tryLock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("creating a lock: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating a lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { f.Close() }, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errLocked
	}
	return nil, fmt.Errorf("locking %s: %w", path, err)
}

// waitLock is tryLock, but waits while another process holds the lock, and prints once what it
// waits for.
func waitLock(ctx context.Context, path, holder string, out io.Writer) (unlock func(), err error) {
	for announced := false; ; announced = true {
		unlock, err := tryLock(path)
		if !errors.Is(err, errLocked) {
			return unlock, err
		}
		if !announced {
			fmt.Fprintf(out, "waiting for %s\n", holder)
		}
		if err := pause(ctx, lockPoll); err != nil {
			return nil, fmt.Errorf("waiting for %s: %w", holder, err)
		}
	}
}

// lockDir makes this command the only one that changes dir until the returned function is called.
func lockDir(dir string) (unlock func(), err error) {
	unlock, err = tryLock(filepath.Join(dir, "lock"))
	if errors.Is(err, errLocked) {
		return nil, fmt.Errorf("another cluster command is using %s: wait until it ends", dir)
	}
	return unlock, err
}

// lockStart prevents other clusters of this user from starting at the same time, because another
// cluster could use a port between the choice of the port and listening on it.
func lockStart(ctx context.Context, out io.Writer) (unlock func(), err error) {
	cache, err := cacheRoot()
	if err != nil {
		return nil, err
	}
	return waitLock(ctx, filepath.Join(cache, "starting.lock"), "another cluster to start", out)
}
