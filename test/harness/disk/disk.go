// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package disk creates small disks, and fills them.
package disk

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// Small mounts a file system of a size, in bytes, at a directory until the test ends. The test is
// skipped if it must not mount.
func Small(t testing.TB, dir string, size int64) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size)); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting the small disk: %v", err)
		}
	})
}

// Fill writes a file that leaves no free space. Removing the file frees the space again.
func Fill(t testing.TB, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatalf("filling the disk: %v", err)
	}
	for _, size := range []int{1 << 20, 4 << 10} {
		for block := bytes.Repeat([]byte("x"), size); ; {
			if _, err := file.Write(block); err != nil {
				break
			}
		}
	}
	_ = file.Close()
}
