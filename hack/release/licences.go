// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowedLicences returns the licences that linked components may have; docs/adr/0012 says why.
func allowedLicences() []string {
	return []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MPL-2.0"}
}

// noticesFile is the file with the licences of linked components, in an archive and in an image.
const noticesFile = "THIRD_PARTY_NOTICES"

// recognised is the part of a file, in percent, that must be the text of known licences. The rest
// may be names of authors, and statements about which part of a module has which licence.
const recognised = 75

var (
	// licenceFile matches the names of files with the text of a licence.
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.-].*)?$`)
	// noticeFile matches the names of files that must be distributed with the licence.
	noticeFile = regexp.MustCompile(`(?i)^(notice|copyright|patents)([.-].*)?$`)
	// otherFile matches files that the other expressions match by mistake: source, and the licence of
	// the documentation, which is not linked.
	otherFile = regexp.MustCompile(`(?i)\.(go|docs)$`)
)

// notice is a file that must be distributed with a program.
type notice struct{ component, file, text string }

// notices returns the licences and notices of a component. Every linked package must have a licence
// in its directory or in a directory above it, and all licences in these directories must be
// allowed.
func (c component) notices() ([]notice, error) {
	var all []notice
	var wrong []error
	licensed := map[string]bool{}
	for _, dir := range c.dirs() {
		files, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("looking for the licence of %s: %w", c, err)
		}
		for _, file := range files {
			isLicence := licenceFile.MatchString(file.Name())
			if file.IsDir() || otherFile.MatchString(file.Name()) || !isLicence && !noticeFile.MatchString(file.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, file.Name()))
			if err != nil {
				return nil, fmt.Errorf("reading the licence of %s: %w", c, err)
			}
			name := filepath.ToSlash(strings.TrimPrefix(filepath.Join(dir, file.Name()), c.dir+string(filepath.Separator)))
			all = append(all, notice{c.String(), name, string(text)})
			if isLicence {
				licensed[dir] = true
				if err := judge(text); err != nil {
					wrong = append(wrong, fmt.Errorf("%s: %s %w", c, name, err))
				}
			}
		}
	}
	for _, pkg := range c.packages {
		if !slices.ContainsFunc(upwards(pkg, c.dir), func(dir string) bool { return licensed[dir] }) {
			wrong = append(wrong, fmt.Errorf("%s: no licence found for %s", c, c.nameOf(pkg)))
		}
	}
	return all, errors.Join(wrong...)
}

// judge returns an error for the text of a licence that is not allowed.
func judge(text []byte) error {
	found := licensecheck.Scan(text)
	var others []string
	for _, match := range found.Match {
		if !slices.Contains(allowedLicences(), match.ID) {
			others = append(others, match.ID)
		}
	}
	allowed := strings.Join(allowedLicences(), ", ")
	switch {
	case len(others) > 0:
		slices.Sort(others)
		return fmt.Errorf("is %s, want one of %s", strings.Join(slices.Compact(others), " and "), allowed)
	case found.Percent < recognised:
		return fmt.Errorf("is not a known licence (%.0f %% of it matches known licences), want one of %s", found.Percent, allowed)
	}
	return nil
}

// thirdParty returns the file that must be distributed with a program: the licences and notices of
// all components linked into it. Equal texts are written once.
func thirdParty(ctx context.Context, module, pkg string, on platform) ([]byte, error) {
	components, err := linked(ctx, module, pkg, on)
	if err != nil {
		return nil, err
	}
	var texts []string
	of := map[string][]string{}
	var wrong []error
	for _, c := range components {
		found, err := c.notices()
		wrong = append(wrong, err)
		for _, n := range found {
			text := strings.TrimSpace(strings.ReplaceAll(n.text, "\r\n", "\n"))
			if len(of[text]) == 0 {
				texts = append(texts, text)
			}
			of[text] = append(of[text], n.component+": "+n.file)
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, fmt.Errorf("%s for %s must not be distributed:\n%w", pkg, on, err)
	}
	var out strings.Builder
	out.WriteString(
		"This program contains components of other authors. Their licences and notices follow, each below the\nnames of the components that it applies to.\n")
	line := strings.Repeat("-", 80)
	for _, text := range texts {
		fmt.Fprintf(&out, "\n%s\n%s\n%s\n\n%s\n", line, strings.Join(of[text], "\n"), line, text)
	}
	return []byte(out.String()), nil
}

// documentsDir is the directory of an image with the licences of its programs, as in Debian.
const documentsDir = "/usr/share/doc/"

// documents writes the licences and notices of a program to a directory, and returns the file by
// its path in the image.
func documents(ctx context.Context, module, pkg, program string, on platform, dir string) (map[string]string, error) {
	notices, err := thirdParty(ctx, module, pkg, on)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, program+"_"+on.String()+"."+noticesFile)
	if err := os.WriteFile(file, notices, 0o600); err != nil {
		return nil, fmt.Errorf("writing the licences of %s: %w", pkg, err)
	}
	return map[string]string{documentsDir + program + "/" + noticesFile: file}, nil
}

// licences refuses a release with a component whose licence is not allowed, before anything is
// built.
func (r *release) licences(ctx context.Context) error {
	var wrong []error
	for pkg, platforms := range targets() {
		for _, on := range platforms {
			_, err := thirdParty(ctx, r.root, pkg, on)
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}
