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
	"time"
)

// manifests writes the manifests for kubectl apply: for three servers, and for one.
func (r *release) manifests(ctx context.Context) error {
	for file, args := range map[string][]string{"install.yaml": nil, "install-single.yaml": {"--single"}} {
		args = append([]string{"install", "--image=" + r.pinned(serverImage), "--dry-run=client"}, args...)
		printed, err := r.output(ctx, r.built(pluginPackage), args...)
		if err != nil {
			return err
		}
		if err := r.write(file, []byte(printed+"\n")); err != nil {
			return err
		}
	}
	return nil
}

// krew writes the manifest with which kubectl's plugin manager installs the plugin.
func (r *release) krew(ctx context.Context) error {
	printed, err := r.output(ctx, "artifacts/krew/fill.sh", r.version, r.downloads, r.dir)
	if err != nil {
		return err
	}
	return r.write("sts.yaml", []byte(printed+"\n"))
}

// completer is the program that kubectl runs to complete the arguments of "kubectl sts", in every
// shell in which kubectl completes its own arguments.
const completer = "#!/bin/sh\nexec kubectl-sts __complete \"$@\"\n"

// completions writes the program that kubectl looks for in PATH.
func (r *release) completions(context.Context) error {
	return r.write("kubectl_complete-sts", []byte(completer))
}

// manPages runs the tests that write and check the pages, because only the packages of the programs
// know their commands.
func (r *release) manPages(ctx context.Context) error {
	pages := filepath.Join(r.work, "man")
	if err := os.Mkdir(pages, 0o755); err != nil {
		return fmt.Errorf("creating a temporary directory: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-run=^TestManPages$", serverPackage, pluginPackage)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "MAN_PAGES="+pages, "MAN_DATE="+r.created.Format(time.RFC3339), "MAN_VERSION="+r.version)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("writing man pages: %w:\n%s", err, output)
	}
	files, err := os.ReadDir(pages)
	if err != nil {
		return fmt.Errorf("listing man pages: %w", err)
	}
	var entries []archived
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(pages, file.Name()))
		if err != nil {
			return fmt.Errorf("reading a man page: %w", err)
		}
		entries = append(entries, archived{path.Join("man", file.Name()), 0o644, content})
	}
	if len(entries) == 0 {
		return fmt.Errorf("%s has no man pages", pages)
	}
	archive, err := tarGz(r.created, entries)
	if err != nil {
		return err
	}
	return r.write("man.tar.gz", archive)
}
