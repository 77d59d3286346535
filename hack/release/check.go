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
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

var (
	versionForm = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
	minorForm   = regexp.MustCompile(`(?m)^\tMinor = "([0-9]+\.[0-9]+)"$`)
	toolchain   = regexp.MustCompile(`(?m)^toolchain (\S+)$`)
	apiModule   = regexp.MustCompile(`(?m)^\s*(?:require )?statefulset\.dev/api (v\S+)$`)
)

// check refuses to create a release that could not be reproduced. It returns all reasons.
func (r *release) check(ctx context.Context) error {
	if !versionForm.MatchString(r.version) {
		return fmt.Errorf("--version is %q, want a version such as v1.2.3 or v1.2.3-rc.1", r.version)
	}
	return errors.Join(r.checkVulnDB(), r.checkPlaces(), r.checkClean(ctx), r.checkTag(ctx), r.checkToolchain(ctx), r.checkMinor(),
		r.checkNotes(), r.checkModules())
}

func (r *release) checkPlaces() error {
	if _, err := name.NewTag(r.reference(serverImage), name.StrictValidation); err != nil {
		return fmt.Errorf("--registry is %q, want a registry such as registry.example/team: %w", r.registry, err)
	}
	if at, err := url.Parse(r.downloads); err != nil || at.Scheme != "https" || at.Host == "" {
		return fmt.Errorf("--downloads is %q, want a URL such as https://example.org/releases/v1.2.3", r.downloads)
	}
	return nil
}

func (r *release) checkClean(ctx context.Context) error {
	changed, err := r.output(ctx, "git", "status", "--porcelain")
	if err == nil && changed != "" {
		err = fmt.Errorf("the work tree has changes that are not committed:\n%s", changed)
	}
	return err
}

// checkTag refuses a version whose tag points to another commit. A version without a tag is
// allowed, so that it can be tested before it is tagged.
func (r *release) checkTag(ctx context.Context) error {
	tagged, err := r.output(ctx, "git", "tag", "--list", r.version,
		"--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)")
	if err != nil || tagged == "" {
		return err
	}
	head, err := r.output(ctx, "git", "rev-parse", "HEAD")
	if err == nil && tagged != head {
		err = fmt.Errorf("tag %s points to commit %s, but the work tree is at %s", r.version, tagged, head)
	}
	return err
}

func (r *release) checkToolchain(ctx context.Context) error {
	module, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return fmt.Errorf("reading the required version of Go: %w", err)
	}
	wanted := toolchain.FindSubmatch(module)
	if wanted == nil {
		return errors.New("go.mod names no toolchain")
	}
	got, err := r.output(ctx, "go", "env", "GOVERSION")
	if want := string(wanted[1]); err == nil && got != want {
		err = fmt.Errorf("the toolchain is %s, but go.mod names %s: another toolchain builds other bytes", got, want)
	}
	return err
}

// checkMinor compares the version with the minor version in the source of the server, which decides
// what the server stores and which versions it can emulate.
func (r *release) checkMinor() error {
	const file = "version/minor.go"
	source, err := os.ReadFile(filepath.Join(r.root, file))
	if err != nil {
		return fmt.Errorf("reading the minor version: %w", err)
	}
	minor := minorForm.FindSubmatch(source)
	if minor == nil {
		return fmt.Errorf("%s names no minor version", file)
	}
	if !strings.HasPrefix(r.number(), string(minor[1])+".") {
		return fmt.Errorf("--version is %s, but the minor version in %s is %s", r.version, file, minor[1])
	}
	return nil
}

// checkModules compares the version with the version of statefulset.dev/api that
// statefulset.dev/client requires. Programs that import the client get that version, because the
// replacement in client/go.mod applies in this repository only. Candidates are not checked: no
// program imports them.
func (r *release) checkModules() error {
	const file = "client/go.mod"
	if strings.Contains(r.version, "-") {
		return nil
	}
	module, err := os.ReadFile(filepath.Join(r.root, file))
	if err != nil {
		return fmt.Errorf("reading which API the client requires: %w", err)
	}
	required := apiModule.FindSubmatch(module)
	if required == nil {
		return fmt.Errorf("%s does not require statefulset.dev/api", file)
	}
	if got := string(required[1]); got != r.version {
		return fmt.Errorf("%s requires statefulset.dev/api %s, want %s: run hack/module-version.sh %s", file, got, r.version, r.version)
	}
	return nil
}

func (r *release) checkNotes() error {
	_, err := r.changes()
	return err
}

// output runs a command in the work tree and returns what it prints.
func (r *release) output(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = r.root
	printed, err := cmd.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		return "", fmt.Errorf("running %s %s: %w", program, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(printed)), nil
}
