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

// internal is how a failure that is nobody's mistake is answered.
func internal(err error) error { return status.Error(codes.Internal, err.Error()) }

// command runs a program of the machine, and returns what it has printed, or an answer to the caller.
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

// makeImage makes a file with an empty file system: XFS, because to grow while it is mounted takes no
// right that containers of tests often lack.
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

// mount mounts what is not mounted yet.
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

// growMounted has the device of a file see how long that is, and the file system fill it.
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

// expectGrown compares a file with what was mounted of it.
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
		return status.Errorf(codes.FailedPrecondition, "%s is in use with %s of %s bytes, and grows only while it is not", image, mounted, is)
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
