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
	// uncheckedSuffix ends the version of what was built without asking for vulnerabilities. It is not pushed.
	uncheckedSuffix = "-unchecked"
	// hasFindings is how govulncheck ends when a program calls what is vulnerable.
	hasFindings = 3
)

// checkVulnDB refuses files whose version does not tell whether vulnerabilities were asked for.
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

// vulnerabilities fails if the programs call what is known to be vulnerable, or if that cannot be found out.
func (r *release) vulnerabilities(ctx context.Context) error {
	if r.unchecked {
		fmt.Fprintf(r.out, "known vulnerabilities were not asked for: this is %s\n", r.version)
		return nil
	}
	checker := filepath.Join(r.work, "govulncheck")
	if _, err := r.output(ctx, "go", "build", "-modfile=go.tools.mod", "-o", checker, "golang.org/x/vuln/cmd/govulncheck"); err != nil {
		return err
	}
	return checkModule(ctx, checker, r.vulndb, r.root, serverPackage, pluginPackage)
}

// checkModule asks a database for what packages of a module call.
func checkModule(ctx context.Context, checker, db, module string, packages ...string) error {
	if dir, is := strings.CutPrefix(db, "file://"); is { // a directory without an index has no findings
		if _, err := os.Stat(filepath.Join(dir, "index", "modules.json")); err != nil {
			return fmt.Errorf(
				"looking for a vulnerability database: %w; VULNDB=file:///DIRECTORY wants a directory with index/modules.json and the rest of a copy of %s", err, defaultVulnDB)
		}
	}
	cmd := exec.CommandContext(ctx, checker, append([]string{"-db", db}, packages...)...)
	cmd.Dir, cmd.Env = module, append(os.Environ(), "GOWORK=off")
	printed, err := cmd.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok && failed.ExitCode() == hasFindings {
		return fmt.Errorf("the programs call what is vulnerable:\n%s", printed)
	}
	if err != nil {
		return fmt.Errorf(
			"asking %s for vulnerabilities: %w; VULNDB=file:///DIRECTORY takes a local copy, and UNCHECKED=1 builds files that are not released:\n%s", db, err, printed)
	}
	return nil
}
