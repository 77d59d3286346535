// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// debian returns the files of Debian packages, in the versions of the package lists of this
// machine. The versions are not pinned, because such an image is only for tests and never for
// users. The caller names the dependencies, too, because tests do not need all declared
// dependencies. leaveOut has the beginnings of paths to leave out.
func debian(leaveOut []string, packages ...string) filesFunc {
	return func(ctx context.Context, _ source, _, dir string) (map[string]string, error) {
		archives, tree := filepath.Join(dir, "archives"), filepath.Join(dir, "tree")
		if err := os.MkdirAll(archives, 0o755); err != nil {
			return nil, fmt.Errorf("creating a directory for packages: %w", err)
		}
		// As root, because the user of apt could not write into the directory.
		if err := silently(ctx, archives, "apt-get",
			append([]string{"download", "--quiet", "-o", "APT::Sandbox::User=root"}, packages...)...); err != nil {
			return nil, fmt.Errorf("%w\nrun apt-get update to get the package lists", err)
		}
		found, err := filepath.Glob(filepath.Join(archives, "*.deb"))
		if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		for _, archive := range found {
			if err := silently(ctx, dir, "dpkg", "--extract", archive, tree); err != nil {
				return nil, err
			}
		}
		return treeOf(tree, leaveOut)
	}
}

// link returns a symbolic link to a file in the same directory.
func link(target, path string) filesFunc {
	return func(_ context.Context, _ source, _, dir string) (map[string]string, error) {
		at := filepath.Join(dir, "links", path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return nil, fmt.Errorf("creating a directory for links: %w", err)
		}
		if err := os.Symlink(target, at); err != nil {
			return nil, fmt.Errorf("linking %s: %w", path, err)
		}
		return map[string]string{path: at}, nil
	}
}

// silently runs a program. Its output is in the error if it fails.
func silently(ctx context.Context, dir, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = dir
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, said)
	}
	return nil
}

// treeOf returns the files and links below a directory by their path, without files that a
// container does not need. Of the documents of packages it keeps only those about licences.
func treeOf(tree string, leaveOut []string) (map[string]string, error) {
	files := map[string]string{}
	leaveOut = append([]string{"/usr/share/man/", "/usr/share/locale/", "/usr/share/lintian/", "/usr/share/bug/", "/usr/share/info/",
		"/usr/share/bash-completion/"}, leaveOut...)
	err := filepath.WalkDir(tree, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path := strings.TrimPrefix(file, tree)
		if strings.HasPrefix(path, documentsDir) && (filepath.Base(path) != "copyright" || !d.Type().IsRegular()) {
			return nil
		}
		for _, beginning := range leaveOut {
			if strings.HasPrefix(path, beginning) {
				return nil
			}
		}
		files[path] = file
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing the files of packages: %w", err)
	}
	return files, nil
}
