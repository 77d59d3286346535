// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// The packages of our programs.
const (
	serverPackage = "./cmd/statefulset-apiserver"
	pluginPackage = "./cmd/kubectl-sts"
)

// targets returns the platforms of each program: the plugin is built for all platforms of krew, and
// the server for the platforms on which it can run.
func targets() map[string][]platform {
	return map[string][]platform{
		serverPackage: {{"linux", "amd64"}, {"linux", "arm64"}},
		pluginPackage: {{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}},
	}
}

// programs writes an archive for each platform, with our licence and the licences of components,
// and a bill of materials for each program.
func (r *release) programs(ctx context.Context) error {
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return fmt.Errorf("reading the licence: %w", err)
	}
	for pkg, platforms := range targets() {
		for _, on := range platforms {
			if err := r.program(ctx, pkg, on, licence); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *release) program(ctx context.Context, pkg string, on platform, licence []byte) error {
	dir := filepath.Join(r.work, on.String())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("creating a temporary directory: %w", err)
	}
	binary, err := r.build(ctx, pkg, on, dir)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("reading the built program: %w", err)
	}
	notices, err := thirdParty(ctx, r.root, pkg, on)
	if err != nil {
		return err
	}
	archive, err := tarGz(r.created,
		[]archived{{"LICENSE", 0o644, licence}, {noticesFile, 0o644, notices}, {filepath.Base(binary), 0o755, content}})
	if err != nil {
		return err
	}
	file := path.Base(pkg) + "_" + on.String()
	if err := r.write(file+".tar.gz", archive); err != nil {
		return err
	}
	materials, err := billOfMaterials(content, r.version, r.created)
	if err != nil {
		return err
	}
	return r.write(file+".cdx.json", materials)
}

// built returns the path of a program for this machine, which programs has built.
func (r *release) built(pkg string) string {
	return filepath.Join(r.work, platform{runtime.GOOS, runtime.GOARCH}.String(), path.Base(pkg))
}

// images writes an archive of each image that a user's cluster pulls, and the list of their
// digests.
func (r *release) images(ctx context.Context) error {
	r.digests = map[string]string{}
	for _, spec := range userImages([]string{"amd64", "arm64"}) {
		spec.reference = r.reference(spec.name)
		spec.archive = spec.name + "-image"
		if err := r.writeImage(ctx, spec, r.created, r.dir, r.out); err != nil {
			return err
		}
		digest, err := digestOf(r.path(spec.archive + ".tar"))
		if err != nil {
			return fmt.Errorf("reading the digest of image %s: %w", spec.name, err)
		}
		r.digests[spec.name] = digest
	}
	return r.writeDigests(ctx)
}
