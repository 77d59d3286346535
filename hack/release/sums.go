// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

const sumsFile = "SHA256SUMS"

// checksums writes a line for each file, in the format of "sha256sum --check", and signs the file.
func (r *release) checksums(ctx context.Context) error {
	files, err := os.ReadDir(r.dir)
	if err != nil {
		return fmt.Errorf("listing the files of the release: %w", err)
	}
	var sums strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(r.path(file.Name()))
		if err != nil {
			return fmt.Errorf("reading a file of the release: %w", err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), file.Name())
	}
	if err := r.write(sumsFile, []byte(sums.String())); err != nil {
		return err
	}
	return r.sign(ctx, sumsFile)
}

// sign writes the signature of a file of the release next to it.
func (r *release) sign(ctx context.Context, file string) error {
	if r.signingKey == "" {
		fmt.Fprintf(r.out, "%s is not signed: no signing key was specified\n", file)
		return nil
	}
	_, err := r.output(ctx, "ssh-keygen", "-q", "-Y", "sign", "-n", "file", "-f", r.signingKey, r.path(file))
	return err
}
