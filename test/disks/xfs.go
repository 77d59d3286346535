// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// internal returns the error for a failure that is not the caller's mistake.
func internal(err error) error { return status.Error(codes.Internal, err.Error()) }

// command runs a program of the machine, and returns its output, or an error for the caller.
func command(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
	}
	if err != nil {
		return "", internal(fmt.Errorf("running %s: %w", name, err))
	}
	return strings.TrimSpace(string(out)), nil
}

// makeImage creates a file with an empty file system: XFS, because growing it while it is mounted
// needs no right that test containers often lack.
func makeImage(ctx context.Context, path string, size int64) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, nil, 0o600); err != nil {
		return internal(err)
	}
	if err := os.Truncate(partial, size); err != nil {
		return internal(err)
	}
	if _, err := command(ctx, "mkfs.xfs", "-q", partial); err != nil {
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return internal(err)
	}
	return nil
}

// mount mounts something, unless it is mounted already.
func mount(ctx context.Context, at string, args ...string) error {
	if _, err := command(ctx, "findmnt", "--mountpoint", at); err == nil {
		return nil
	}
	_, err := command(ctx, "mount", append(args, at)...)
	return err
}

func unmount(ctx context.Context, at string) error {
	if _, err := command(ctx, "findmnt", "--mountpoint", at); err != nil {
		return nil //nolint:nilerr // nothing is mounted there
	}
	_, err := command(ctx, "umount", at)
	return err
}

// growMounted makes the loop device use the new size of its file, and expands the file system.
func growMounted(ctx context.Context, image, mounted string) error {
	device, err := deviceOf(ctx, image)
	if err != nil {
		return err
	}
	if _, err := command(ctx, "losetup", "--set-capacity", device); err != nil {
		return err
	}
	_, err = command(ctx, "xfs_growfs", mounted)
	return err
}

// expectGrown returns an error if the file has grown since it was mounted.
func expectGrown(ctx context.Context, image string) error {
	device, err := deviceOf(ctx, image)
	if err != nil {
		return err
	}
	mounted, err := command(ctx, "blockdev", "--getsize64", device)
	if err != nil {
		return err
	}
	file, err := os.Stat(image)
	if err != nil {
		return internal(err)
	}
	if is := strconv.FormatInt(file.Size(), 10); is != mounted {
		return status.Errorf(codes.FailedPrecondition, "%s is in use with %s of %s bytes, and grows only while it is not in use", image, mounted, is)
	}
	return nil
}

func deviceOf(ctx context.Context, image string) (string, error) {
	device, err := command(ctx, "losetup", "--noheadings", "--output=NAME", "--associated", image)
	if err == nil && device == "" {
		err = internal(fmt.Errorf("%s is not mounted", image))
	}
	return device, err
}
