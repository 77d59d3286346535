// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

// inNetns calls a function in a network namespace, or in that of this program if the name is empty.
// Processes that it starts stay there.
func inNetns(name string, do func() error) (err error) {
	if name == "" {
		return do()
	}
	target, err := os.Open(filepath.Join(netnsDir, name))
	if err != nil {
		return fmt.Errorf("entering network namespace %s: %w", name, err)
	}
	defer target.Close()
	// A thread enters a namespace. A thread that cannot return stays locked, so it ends with its
	// goroutine.
	runtime.LockOSThread()
	home, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return fmt.Errorf("opening the current network namespace: %w", err)
	}
	defer home.Close()
	if err := unix.Setns(int(target.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("entering network namespace %s: %w", name, err)
	}
	err = do()
	if back := unix.Setns(int(home.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, fmt.Errorf("leaving network namespace %s: %w", name, back))
	}
	runtime.UnlockOSThread()
	return err
}
