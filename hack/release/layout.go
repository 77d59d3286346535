// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// index is an image for several architectures.
type index struct {
	reference, tag string
	image          v1.ImageIndex
}

func newIndex(reference string) (*index, error) {
	parsed, err := name.ParseReference(reference)
	if err != nil {
		return nil, fmt.Errorf("parsing the name of an image: %w", err)
	}
	return &index{reference: reference, tag: parsed.Identifier(), image: mutate.IndexMediaType(empty.Index, types.OCIImageIndex)}, nil
}

// add adds the image of an architecture.
func (i *index) add(spec imageSpec, arch string, text []byte, created time.Time) error {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return fmt.Errorf("creating a layer: %w", err)
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return fmt.Errorf("adding a layer: %w", err)
	}
	layered, err := image.ConfigFile()
	if err != nil {
		return fmt.Errorf("describing an image: %w", err)
	}
	config := v1.Config{Entrypoint: spec.entrypoint, User: spec.user, WorkingDir: "/"}
	if spec.path != "" {
		config.Env = []string{"PATH=" + spec.path}
	}
	platform := v1.Platform{OS: "linux", Architecture: arch}
	if image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: platform.OS, Architecture: arch, Created: v1.Time{Time: created}, Config: config,
		RootFS: layered.RootFS, History: []v1.History{{Created: v1.Time{Time: created}, CreatedBy: "statefulset-apiserver release"}},
	}); err != nil {
		return fmt.Errorf("describing an image: %w", err)
	}
	i.image = mutate.AppendManifests(i.image, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	return nil
}

// layerOf returns a layer with files, and with the directories, users and links that programs
// expect. Its bytes depend only on the arguments.
func layerOf(files map[string]string, created time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	entry := func(h tar.Header, content []byte) error { return addTo(w, h, created, content) }
	const passwd = "root:x:0:0:root:/:/bin/sh\nnonroot:x:65532:65532:nonroot:/:/bin/sh\n"
	entries := []error{
		entry(tar.Header{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755}, nil),
		entry(tar.Header{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755}, nil),
		entry(tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, []byte(passwd)),
		entry(tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil),
	}
	for _, to := range slices.Sorted(maps.Keys(files)) {
		// A link of a package to another of its files.
		if target, err := os.Readlink(files[to]); err == nil {
			entries = append(entries,
				entry(tar.Header{Typeflag: tar.TypeSymlink, Name: strings.TrimPrefix(to, "/"), Linkname: target, Mode: 0o777}, nil))
			continue
		}
		content, err := os.ReadFile(files[to])
		if err != nil {
			return nil, fmt.Errorf("reading a file of an image: %w", err)
		}
		mode := int64(0o755)
		if strings.HasPrefix(to, documentsDir) {
			mode = 0o644
		}
		entries = append(entries, entry(tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(to, "/"), Mode: mode}, content))
		if path.Base(to) != "busybox" {
			continue
		}
		for _, command := range applets() {
			entries = append(entries,
				entry(tar.Header{Typeflag: tar.TypeSymlink, Name: path.Join("bin", command), Linkname: "busybox", Mode: 0o777}, nil))
		}
	}
	if err := errors.Join(append(entries, w.Close())...); err != nil {
		return nil, fmt.Errorf("writing a layer: %w", err)
	}
	return out.Bytes(), nil
}

// applets returns the commands of BusyBox that an image has. It has none that resolves names, which
// can fail in a static program.
func applets() []string {
	return []string{
		"cat", "chmod", "cp", "date", "dd", "df", "echo", "env", "false", "grep", "head", "hostname", "id", "ip", "kill", "ls", "mkdir", "mount",
		"mv", "nc", "printf", "ps", "pwd", "rm", "sed", "seq", "sh", "sleep", "sort", "stat", "sync", "tail", "tar", "test", "top", "touch", "tr",
		"true", "wc"}
}

// archive writes the index as a tar archive of an OCI layout, and returns its size.
func (i *index) archive(file string, created time.Time) (int64, error) {
	dir, err := os.MkdirTemp("", "layout-")
	if err != nil {
		return 0, fmt.Errorf("creating a temporary directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	at, err := layout.Write(dir, empty.Index)
	if err != nil {
		return 0, fmt.Errorf("creating a layout: %w", err)
	}
	if err := at.AppendIndex(i.image, layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          i.reference,
		"org.opencontainers.image.ref.name": i.tag,
	})); err != nil {
		return 0, fmt.Errorf("writing a layout: %w", err)
	}
	return tarDir(dir, file, created)
}

// tarDir writes the files of a directory to an archive in the order of their names. The archive
// gets its name when it is complete.
func tarDir(dir, file string, created time.Time) (int64, error) {
	partial, err := os.Create(file + ".partial")
	if err != nil {
		return 0, fmt.Errorf("writing an archive: %w", err)
	}
	defer partial.Close()
	w := tar.NewWriter(partial)
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		to, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		return addTo(w, tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(to), Mode: 0o644}, created, content)
	})
	if err := errors.Join(err, w.Close(), partial.Close()); err != nil {
		return 0, fmt.Errorf("writing an archive: %w", err)
	}
	if err := os.Rename(partial.Name(), file); err != nil {
		return 0, fmt.Errorf("renaming an archive: %w", err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
