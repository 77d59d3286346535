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

// manifests writes what kubectl can apply: for three servers, and for one.
func (r *release) manifests(ctx context.Context) error {
	for file, args := range map[string][]string{"install.yaml": nil, "install-single.yaml": {"--single"}} {
		args = append([]string{"install", "--image=" + r.reference(serverImage), "--dry-run=client"}, args...)
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

// completions writes what shells load to complete the arguments of both programs.
func (r *release) completions(ctx context.Context) error {
	var entries []archived
	for _, pkg := range []string{pluginPackage, serverPackage} {
		for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
			printed, err := r.output(ctx, r.built(pkg), "completion", shell)
			if err != nil {
				return err
			}
			entries = append(entries, archived{path.Join("completions", path.Base(pkg)+"."+shell), 0o644, []byte(printed + "\n")})
		}
	}
	archive, err := tarGz(r.created, entries)
	if err != nil {
		return err
	}
	return r.write("completions.tar.gz", archive)
}

// manPages has the pages written by the tests that check them, as only these packages know their
// commands.
func (r *release) manPages(ctx context.Context) error {
	pages := filepath.Join(r.work, "man")
	if err := os.Mkdir(pages, 0o755); err != nil {
		return fmt.Errorf("making a directory to work in: %w", err)
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
		return fmt.Errorf("there are no man pages in %s", pages)
	}
	archive, err := tarGz(r.created, entries)
	if err != nil {
		return err
	}
	return r.write("man.tar.gz", archive)
}
