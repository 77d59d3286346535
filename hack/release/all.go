// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// release has the settings and the state of a release.
type release struct {
	source
	created time.Time
	// version is the version of the release, such as v1.2.3.
	version string
	// registry is where users pull images from, and downloads where they get files from.
	registry, downloads string
	// signingKey is a private key of OpenSSH. Without it, checksums and digests are not signed.
	signingKey string
	// vulndb is the URL of the vulnerability database. It is not used if unchecked is true.
	vulndb    string
	unchecked bool
	// digests has the digests of the images, by their names.
	digests map[string]string
	// dir is the directory of the files of the release, and work is for temporary files.
	dir, work string
	out       io.Writer
}

// part creates some files of a release.
type part struct {
	name string
	make func(*release, context.Context) error
}

// parts returns the parts in an order in which each part comes after the parts that it needs.
func parts() []part {
	return []part{
		{"the check for known vulnerabilities", (*release).vulnerabilities},
		{"the check of the licences", (*release).licences},
		{"the notes", (*release).notes},
		{"the programs", (*release).programs},
		{"the images", (*release).images},
		{"the chart", (*release).chart},
		{"the manifests", (*release).manifests},
		{"the manifest for krew", (*release).krew},
		{"completions", (*release).completions},
		{"man pages", (*release).manPages},
		{"the OpenAPI document and the schemas", (*release).schemas},
		{"the clients", (*release).clients},
		{"checksums", (*release).checksums},
	}
}

func runAll(ctx context.Context, args []string, out io.Writer) error {
	fs := flag.NewFlagSet("all", flag.ContinueOnError)
	from, created := sourceFlags(fs)
	r := &release{out: out}
	fs.StringVar(&r.version, "version", "", "`version` of the release, such as v1.2.3")
	fs.StringVar(&r.registry, "registry", "", "`registry` that users pull the images from, with a path if it has one")
	fs.StringVar(&r.downloads, "downloads", "", "`URL` below which users get the files")
	fs.StringVar(&r.signingKey, "signing-key", "",
		"private `key` of OpenSSH that signs the checksums and the digests of images, or the public one if an agent has the other")
	fs.StringVar(&r.vulndb, "vulndb", defaultVulnDB, "`URL` of the vulnerability database; file:///DIRECTORY is a local copy")
	fs.BoolVar(&r.unchecked, "unchecked", false, "do not check for vulnerabilities; the version must end in "+uncheckedSuffix)
	to := fs.String("out", "dist", "`directory` to write to; its contents are replaced")
	if err := fs.Parse(args); err != nil {
		return err
	}
	r.source = *from
	var err error
	if r.created, err = parseTime(*created); err != nil {
		return err
	}
	if err := r.check(ctx); err != nil {
		return err
	}
	return r.make(ctx, *to)
}

// make creates all files, and moves them to their directory only when all of them are complete.
func (r *release) make(ctx context.Context, to string) error {
	var err error
	if r.work, err = os.MkdirTemp("", "release-"); err != nil {
		return fmt.Errorf("creating a temporary directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(r.work) }()
	if r.dir, err = filepath.Abs(to + ".partial"); err != nil {
		return fmt.Errorf("finding the directory of the release: %w", err)
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return fmt.Errorf("removing the files of an earlier attempt: %w", err)
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return fmt.Errorf("creating the directory of the release: %w", err)
	}
	for _, p := range parts() {
		begun := time.Now()
		if err := p.make(r, ctx); err != nil {
			return fmt.Errorf("creating %s: %w", p.name, err)
		}
		fmt.Fprintf(r.out, "%s (%s)\n", p.name, time.Since(begun).Round(100*time.Millisecond))
	}
	if err := os.RemoveAll(to); err != nil {
		return fmt.Errorf("removing the previous release: %w", err)
	}
	if err := os.Rename(r.dir, to); err != nil {
		return fmt.Errorf("moving the release to its directory: %w", err)
	}
	return nil
}

// number returns the version without the letter, as in charts and changelogs.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// reference returns the name and the tag of an image, for people.
func (r *release) reference(image string) string { return r.registry + "/" + image + ":" + r.version }

// pinned returns the reference with the digest of an image, for clusters. Its tag is only for
// people.
func (r *release) pinned(image string) string { return r.reference(image) + "@" + r.digests[image] }

// path returns the path of a file of the release.
func (r *release) path(name string) string { return filepath.Join(r.dir, name) }

// write writes a file of the release.
func (r *release) write(name string, content []byte) error {
	if err := os.WriteFile(r.path(name), content, 0o644); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
