// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// source is the work tree to build, with the linker flags that set the version of its programs.
type source struct {
	root, stamp string
	// kept is the directory of files that the next run can reuse. If it is empty, none are kept.
	kept string
}

// platform is the operating system and the architecture that a program is built for.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "_" + p.arch }

// program returns the file name of a program on the platform.
func (p platform) program(name string) string {
	if p.os == "windows" {
		return name + ".exe"
	}
	return name
}

// environment returns the environment for building programs for the platform.
func (p platform) environment() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=-buildvcs=false", "GOWORK=off")
}

// build builds one of our programs into a directory, and returns its path.
func (s source) build(ctx context.Context, pkg string, on platform, dir string) (string, error) {
	return build(ctx, s.root, "-s -w "+s.stamp, pkg, filepath.Join(dir, on.program(path.Base(pkg))), on)
}

// build builds a package of a module to a file. The result depends only on the sources, the
// toolchain and the linker flags. The linker omits debug information, so the compiler does not
// create it either.
func build(ctx context.Context, module, ldflags, pkg, binary string, on platform) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", ldflags, "-o", binary, pkg)
	cmd.Dir, cmd.Env = module, on.environment()
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s for %s: %w:\n%s", pkg, on, err, output)
	}
	return binary, nil
}
