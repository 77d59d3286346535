// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func runBuild(ctx context.Context, args []string, out io.Writer) error {
	fs := newFlags("build", "[--kubernetes VERSION] [--real-nodes] [--modules DIR]", out)
	modules, version := modulesFlag(fs), kubernetesFlag(fs, newestRelease().String())
	nodes := fs.Bool("real-nodes", false, "also build the binaries that real nodes need")
	if err := parse(fs, args); err != nil {
		return err
	}
	r, err := parseRelease(*version, "")
	if err != nil {
		return err
	}
	begun := time.Now()
	if _, err := buildAll(ctx, r, *nodes, *modules, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "all binaries are up to date (%s)\n", elapsed(begun))
	return nil
}

// binaries maps a binary's name to its path.
type binaries map[string]string

// buildAll builds missing binaries and returns the paths of all. An existing binary is complete,
// because it is renamed into place after its build.
func buildAll(ctx context.Context, r release, nodes bool, modules string, out io.Writer) (binaries, error) {
	modulesDir, err := findModules(modules)
	if err != nil {
		return nil, err
	}
	cache, err := cacheRoot()
	if err != nil {
		return nil, err
	}
	toolchain, err := goToolchain(ctx)
	if err != nil {
		return nil, err
	}
	built := binaries{}
	for _, m := range sourceModules(r, nodes) {
		p, err := newPlan(m, modulesDir, cache, toolchain)
		if err != nil {
			return nil, err
		}
		if err := buildModule(ctx, p, out); err != nil {
			return nil, err
		}
		for _, b := range m.binaries {
			built[b.name] = p.path(b)
		}
	}
	return built, nil
}

func goToolchain(ctx context.Context) (string, error) {
	raw, err := exec.CommandContext(ctx, "go", "env", "GOVERSION", "GOOS", "GOARCH").Output()
	if err != nil {
		return "", fmt.Errorf("running the go command, which builds the cluster's binaries: %w", err)
	}
	return string(raw), nil
}

func buildModule(ctx context.Context, p plan, out io.Writer) error {
	if len(p.missing()) == 0 {
		return nil
	}
	unlock, err := waitLock(ctx, filepath.Join(p.target, ".lock"), "another build into "+p.target, out)
	if err != nil {
		return err
	}
	defer unlock()
	// Check again under the lock: another build may have finished some of them meanwhile.
	for _, b := range p.missing() {
		if err := buildBinary(ctx, p, b, out); err != nil {
			return err
		}
	}
	return nil
}

// collectSeldom makes compilers collect garbage less often, and use more memory. Together with the
// missing debug information, a cold build needs a fifth less processor time.
const collectSeldom = "GOGC=400"

func buildBinary(ctx context.Context, p plan, b binary, out io.Writer) error {
	begun := time.Now()
	label := b.name + " " + p.version
	stopProgress := reportProgress("building "+label, out)
	defer stopProgress()

	partial := filepath.Join(p.target, "."+b.name+".partial")
	// The linker omits debug information, so the compiler need not generate any. The programs of
	// this project are built in the same way, see GO_BUILD in the Makefile.
	cmd := goCommand(ctx, p.source, "build", "-mod=readonly", "-trimpath", "-gcflags=all=-dwarf=false", "-tags", p.module.tags, "-ldflags",
		p.ldflags,
		"-o", partial, b.importPath)
	cmd.Env = append(cmd.Env, collectSeldom)
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("building %s: %w", label, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("building %s: %w; last lines of the compiler's output:\n%s", label, err, lastLines(string(bytes.TrimSpace(output))))
	}
	if err := os.Rename(partial, p.path(b)); err != nil {
		return fmt.Errorf("putting %s in place: %w", label, err)
	}
	stopProgress()
	fmt.Fprintf(out, "built %s in %s\n", label, elapsed(begun))
	return nil
}

// goCommand runs the go command in a module, independent of the caller's workspace and flags.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOWORK=off")
	// Kill the compilers that go starts together with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// pinnedSource returns the directory of a module's sources, downloading them if they are not in the
// module cache.
func pinnedSource(ctx context.Context, modulesDir, name, path string) (string, error) {
	dir := filepath.Join(modulesDir, name)
	if output, err := goCommand(ctx, dir, "mod", "download", path).CombinedOutput(); err != nil {
		return "", fmt.Errorf("downloading %s: %w:\n%s", path, err, lastLines(string(output)))
	}
	raw, err := goCommand(ctx, dir, "list", "-m", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		return "", fmt.Errorf("finding the sources of %s: %w", path, err)
	}
	return strings.TrimSpace(string(raw)), nil
}
