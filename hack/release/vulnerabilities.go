// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	defaultVulnDB = "https://vuln.go.dev"
	// uncheckedSuffix ends the version of a build that was not checked for vulnerabilities. Such a
	// build is not pushed.
	uncheckedSuffix = "-unchecked"
	// hasFindings is the exit code of govulncheck if a program calls vulnerable code.
	hasFindings = 3
)

// checkVulnDB refuses a version that does not show whether the build is checked for
// vulnerabilities.
func (r *release) checkVulnDB() error {
	if suffixed := strings.HasSuffix(r.version, uncheckedSuffix); suffixed != r.unchecked {
		return fmt.Errorf("--version is %q and --unchecked is %t, want a version that ends in %s exactly when it is unchecked", r.version,
			r.unchecked, uncheckedSuffix)
	}
	if r.unchecked {
		return nil
	}
	at, err := url.Parse(r.vulndb)
	is := err == nil && (at.Scheme == "https" && at.Host != "" || at.Scheme == "file" && at.Host == "" && filepath.IsAbs(at.Path))
	if !is {
		return fmt.Errorf("--vulndb is %q, want %s or file:///DIRECTORY", r.vulndb, defaultVulnDB)
	}
	return nil
}

// vulnerabilities fails if the programs call code that is known to be vulnerable, or if the check
// fails.
func (r *release) vulnerabilities(ctx context.Context) error {
	if r.unchecked {
		fmt.Fprintf(r.out, "%s was not checked for known vulnerabilities\n", r.version)
		return nil
	}
	checker := filepath.Join(r.work, "govulncheck")
	if _, err := r.output(ctx, "go", "build", "-modfile=go.tools.mod", "-o", checker, "golang.org/x/vuln/cmd/govulncheck"); err != nil {
		return err
	}
	return checkModule(ctx, checker, r.vulndb, r.root, serverPackage, pluginPackage)
}

// checkModule checks the code that packages of a module call against a vulnerability database.
func checkModule(ctx context.Context, checker, db, module string, packages ...string) error {
	if dir, is := strings.CutPrefix(db, "file://"); is { // a directory without an index has no findings
		if _, err := os.Stat(filepath.Join(dir, "index", "modules.json")); err != nil {
			return fmt.Errorf(
				"looking for a vulnerability database: %w; VULNDB=file:///DIRECTORY must be a directory with index/modules.json and the other files of a copy of %s", err, defaultVulnDB)
		}
	}
	cmd := exec.CommandContext(ctx, checker, append([]string{"-db", db}, packages...)...)
	cmd.Dir, cmd.Env = module, append(os.Environ(), "GOWORK=off")
	printed, err := cmd.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() == hasFindings {
		return fmt.Errorf("the programs call vulnerable code:\n%s", printed)
	}
	if err != nil {
		return fmt.Errorf(
			"checking %s for vulnerabilities: %w; VULNDB=file:///DIRECTORY uses a local copy, and UNCHECKED=1 builds files that are not released:\n%s", db, err, printed)
	}
	return nil
}
