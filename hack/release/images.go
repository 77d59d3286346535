// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

// imageSpec describes an image.
type imageSpec struct {
	name string
	// reference is the name of the image on a node.
	reference string
	arch      []string
	// files returns the files of the image by their path in the image.
	files      filesFunc
	entrypoint []string
	// path is the value of PATH, for an image with more than one program.
	path string
	user string
	// archive is the name of the archive, the name of the image if it is empty.
	archive string
	// optional means that the image is created only if it is requested by name.
	optional bool
}

// userImages returns the images that clusters of users pull.
func userImages(arch []string) []imageSpec {
	return slices.DeleteFunc(images(arch), func(i imageSpec) bool { return i.name != serverImage && i.name != pluginImage })
}

// The unprivileged user that our programs run as.
const nobody = "65532:65532"

// images returns the images for users, and the images that test nodes need.
func images(arch []string) []imageSpec {
	here := []string{runtime.GOARCH}
	return []imageSpec{
		{
			// The name to which a node expands "statefulset-apiserver:dev".
			name: serverImage, reference: "docker.io/library/statefulset-apiserver:dev", arch: arch, user: nobody,
			files: program(serverPackage, "/statefulset-apiserver"), entrypoint: []string{"/statefulset-apiserver"},
		},
		{
			name: pluginImage, reference: "docker.io/library/kubectl-sts:dev", arch: arch, user: nobody,
			files: program(pluginPackage, "/kubectl-sts"), entrypoint: []string{"/kubectl-sts"},
		},
		web("web", "localhost/web:dev"), webAgain(),
		{
			name: "etcd", reference: "localhost/etcd:dev", arch: here, user: nobody, entrypoint: []string{"/etcd"}, path: "/bin",
			files: together(
				pinned("etcd", "go.etcd.io/etcd/server/v3", "/etcd"), pinned("etcd", "go.etcd.io/etcd/etcdctl/v3", "/etcdctl"),
				file("test/images/etcd/start.sh", "/start.sh"), busybox),
		},
		{
			// The agents of members use it to send requests to the cluster.
			name: "kubectl", reference: "localhost/kubectl:dev", arch: here, user: nobody, entrypoint: []string{"/bin/kubectl"}, path: "/bin",
			files: together(pinned("kubernetes", "k8s.io/kubernetes/cmd/kubectl", "/bin/kubectl"), busybox),
		},
		{name: "pause", reference: "localhost/pause:dev", arch: here, user: nobody, files: program("./test/images/pause", "/pause"),
			entrypoint: []string{"/pause"}},
		{name: "busybox", reference: "localhost/busybox:dev", arch: here, user: "0:0", files: busybox, entrypoint: []string{"/bin/sh"},
			path: "/bin"},
		{
			name: "agnhost", reference: "localhost/agnhost:dev", arch: here, user: nobody, entrypoint: []string{"/agnhost"}, optional: true,
			files: pinned("agnhost", "k8s.io/kubernetes/test/images/agnhost", "/agnhost"),
		},
		zookeeper(), galera(),
		certManager("controller"), certManager("webhook"), certManager("cainjector"),
	}
}

// web is the image that members run in tests.
func web(name, reference string) imageSpec {
	return imageSpec{
		name: name, reference: reference, arch: []string{runtime.GOARCH}, user: nobody,
		files: together(program("./test/images/web", "/web"), busybox), entrypoint: []string{"/web"}, path: "/bin",
	}
}

// webAgain is the same image with another name.
func webAgain() imageSpec {
	again := web("web-again", "localhost/web:again")
	again.optional = true
	return again
}

// certManager is the image of one of the programs of cert-manager.
func certManager(part string) imageSpec {
	const module = "cert-manager"
	return imageSpec{
		name: module + "-" + part, reference: "localhost/" + module + "-" + part + ":dev", arch: []string{runtime.GOARCH}, user: nobody,
		files: pinned(module, "github.com/cert-manager/cert-manager/cmd/"+part, "/"+part), entrypoint: []string{"/" + part}, optional: true,
	}
}

type filesFunc = func(ctx context.Context, s source, arch, dir string) (map[string]string, error)

// program returns the files of one of the programs of this project, built for an architecture.
func program(pkg, path string) filesFunc {
	return func(ctx context.Context, s source, arch, dir string) (map[string]string, error) {
		place, err := s.place(arch, dir)
		if err != nil {
			return nil, err
		}
		binary, err := s.build(ctx, pkg, platform{"linux", arch}, place)
		if err != nil {
			return nil, err
		}
		files, err := documents(ctx, s.root, pkg, filepath.Base(path), platform{"linux", arch}, dir)
		if err != nil {
			return nil, err
		}
		files[path] = binary
		files[documentsDir+filepath.Base(path)+"/LICENSE"] = filepath.Join(s.root, "LICENSE")
		return files, nil
	}
}

// pinned returns the files of a program of another project, in the version that a module of the
// local cluster requires.
func pinned(module, pkg, path string) filesFunc {
	return func(ctx context.Context, s source, arch, dir string) (map[string]string, error) {
		module := filepath.Join(s.root, "test", "cluster", "modules", module)
		place, err := s.place(arch, dir)
		if err != nil {
			return nil, err
		}
		binary, err := build(ctx, module, "-s -w", pkg, filepath.Join(place, filepath.Base(path)), platform{"linux", arch})
		if err != nil {
			return nil, err
		}
		files, err := documents(ctx, module, pkg, filepath.Base(path), platform{"linux", arch}, dir)
		if err != nil {
			return nil, err
		}
		files[path] = binary
		return files, nil
	}
}

// file returns a file of the work tree without changes.
func file(from, path string) filesFunc {
	return func(_ context.Context, s source, _, _ string) (map[string]string, error) {
		return map[string]string{path: filepath.Join(s.root, from)}, nil
	}
}

// busybox returns the files of BusyBox of Debian, with the file about its licence. The licence is
// the GPL, so no image for users has BusyBox. layerOf adds the links for its commands.
func busybox(context.Context, source, string, string) (map[string]string, error) {
	files := map[string]string{}
	for _, path := range []string{"/bin/busybox", documentsDir + "busybox-static/copyright"} {
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("%s is missing: apt-get install busybox-static", path)
		}
		files[path] = path
	}
	return files, nil
}

func together(parts ...filesFunc) filesFunc {
	return func(ctx context.Context, s source, arch, dir string) (map[string]string, error) {
		all := map[string]string{}
		for _, part := range parts {
			files, err := part(ctx, s, arch, dir)
			if err != nil {
				return nil, err
			}
			maps.Copy(all, files)
		}
		return all, nil
	}
}

// writeImage writes an archive with the image for each of its architectures, unless an up-to-date
// archive exists.
func (s source) writeImage(ctx context.Context, spec imageSpec, created time.Time, dir string, out io.Writer) error {
	begun := time.Now()
	work, err := os.MkdirTemp("", "image-")
	if err != nil {
		return fmt.Errorf("creating a temporary directory: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	layers, err := s.gather(ctx, spec, created, work)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("creating the directory of images: %w", err)
	}
	archive := filepath.Join(dir, cmp.Or(spec.archive, spec.name)+".tar")
	said := "unchanged"
	if err := s.unlessKept(spec, layers, created, archive, func() error {
		index, err := pack(spec, layers, created)
		if err != nil {
			return err
		}
		size, err := index.archive(archive, created)
		said = fmt.Sprintf("%.1f MB", float64(size)/1e6)
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintf(out, "image %s: %s, %s\n", spec.reference, said, time.Since(begun).Round(100*time.Millisecond))
	return nil
}

// assemble creates an image in memory, for each of its architectures. work is a directory for
// temporary files.
func (s source) assemble(ctx context.Context, spec imageSpec, created time.Time, work string) (*index, error) {
	layers, err := s.gather(ctx, spec, created, work)
	if err != nil {
		return nil, err
	}
	return pack(spec, layers, created)
}

// gather returns the layer with the files of an image, for each of its architectures.
func (s source) gather(ctx context.Context, spec imageSpec, created time.Time, work string) ([][]byte, error) {
	layers := make([][]byte, len(spec.arch))
	for i, arch := range spec.arch {
		files, err := spec.files(ctx, s, arch, work)
		if err != nil {
			return nil, err
		}
		if layers[i], err = layerOf(files, created); err != nil {
			return nil, err
		}
	}
	return layers, nil
}

// pack creates an image from its layers, one for each architecture.
func pack(spec imageSpec, layers [][]byte, created time.Time) (*index, error) {
	made, err := newIndex(spec.reference)
	if err != nil {
		return nil, err
	}
	for i, arch := range spec.arch {
		if err := made.add(spec, arch, layers[i], created); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// parseTime parses the time of a commit. Without one, it returns the beginning of the Unix epoch.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--created is %q, want a time such as 2026-11-22T12:00:00Z", text)
	}
	return at.UTC(), nil
}
