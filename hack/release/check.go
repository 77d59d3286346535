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

// check refuses to make a release that nobody could make again. It tells all reasons.
func (r *release) check(ctx context.Context) error {
	if !versionForm.MatchString(r.version) {
		return fmt.Errorf("--version is %q, want one such as v1.2.3 or v1.2.3-rc.1", r.version)
	}
	return errors.Join(r.checkVulnDB(), r.checkPlaces(), r.checkClean(ctx), r.checkTag(ctx), r.checkToolchain(ctx), r.checkMinor(),
		r.checkNotes(), r.checkModules())
}

func (r *release) checkPlaces() error {
	if _, err := name.NewTag(r.reference(serverImage), name.StrictValidation); err != nil {
		return fmt.Errorf("--registry is %q, want one such as registry.example/team: %w", r.registry, err)
	}
	if at, err := url.Parse(r.downloads); err != nil || at.Scheme != "https" || at.Host == "" {
		return fmt.Errorf("--downloads is %q, want a URL such as https://example.org/releases/v1.2.3", r.downloads)
	}
	return nil
}

func (r *release) checkClean(ctx context.Context) error {
	changed, err := r.output(ctx, "git", "status", "--porcelain")
	if err == nil && changed != "" {
		err = fmt.Errorf("the work tree has what its commit has not:\n%s", changed)
	}
	return err
}

// checkTag lets a version be tried out before it is tagged. A tag must not lead elsewhere.
func (r *release) checkTag(ctx context.Context) error {
	tagged, err := r.output(ctx, "git", "tag", "--list", r.version,
		"--format=%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)")
	if err != nil || tagged == "" {
		return err
	}
	head, err := r.output(ctx, "git", "rev-parse", "HEAD")
	if err == nil && tagged != head {
		err = fmt.Errorf("tag %s is of commit %s, and the work tree of %s", r.version, tagged, head)
	}
	return err
}

func (r *release) checkToolchain(ctx context.Context) error {
	module, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return fmt.Errorf("reading the version of Go that is wanted: %w", err)
	}
	wanted := toolchain.FindSubmatch(module)
	if wanted == nil {
		return errors.New("go.mod names no toolchain")
	}
	got, err := r.output(ctx, "go", "env", "GOVERSION")
	if want := string(wanted[1]); err == nil && got != want {
		err = fmt.Errorf("the toolchain is %s, and go.mod names %s: another one gives other bytes", got, want)
	}
	return err
}

// checkMinor compares the version with what servers take themselves for, which decides what they
// store and what they can emulate.
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
		return fmt.Errorf("--version is %s, and %s says that this is a %s", r.version, file, minor[1])
	}
	return nil
}

// checkModules compares the version with the one of statefulset.dev/api that statefulset.dev/client requires. Who imports the client
// gets that one: the replacement in client/go.mod holds in this tree alone. A candidate is not imported.
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

// output is what a command prints that is run in the work tree.
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
