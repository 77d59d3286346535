// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// module is a separate Go module that pins the sources of some binaries; see modules/NAME/go.mod.
type module struct {
	name     string
	pinned   string
	stamp    func(version string) string
	tags     string
	binaries []binary
}

// binary is one program of a module.
type binary struct {
	name       string
	importPath string
}

// sourceModules returns the modules of the control plane and fake nodes, and those of real nodes if
// requested.
func sourceModules(r release, nodes bool) []module {
	all := []module{
		{
			name: "etcd", pinned: "go.etcd.io/etcd/server/v3",
			binaries: []binary{{"etcd", "go.etcd.io/etcd/server/v3"}, {"etcdctl", "go.etcd.io/etcd/etcdctl/v3"}},
		},
		{
			name: r.module, pinned: "k8s.io/kubernetes", stamp: kubernetesStamp,
			binaries: []binary{
				{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
				{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"},
				{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"},
				{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
			},
		},
		{
			name: "kwok", pinned: kwokModule,
			binaries: []binary{{"kwok", "sigs.k8s.io/kwok/cmd/kwok"}},
		},
	}
	if nodes {
		all = append(all, nodeModules(r)...)
	}
	return all
}

func nodeModules(r release) []module {
	const cni = "github.com/containernetworking/plugins"
	return []module{
		{
			name: r.module, pinned: "k8s.io/kubernetes", stamp: kubernetesStamp,
			binaries: []binary{{"kubelet", "k8s.io/kubernetes/cmd/kubelet"}, {"kube-proxy", "k8s.io/kubernetes/cmd/kube-proxy"}},
		},
		{
			name: "containerd", pinned: containerdModule, tags: "no_btrfs,no_zfs,no_devmapper",
			binaries: []binary{
				{"containerd", containerdModule + "/cmd/containerd"},
				{"containerd-shim-runc-v2", containerdModule + "/cmd/containerd-shim-runc-v2"},
				{"ctr", containerdModule + "/cmd/ctr"},
			},
		},
		{
			name: "cni", pinned: cni,
			binaries: []binary{
				{"ptp", cni + "/plugins/main/ptp"},
				{"loopback", cni + "/plugins/main/loopback"},
				{"host-local", cni + "/plugins/ipam/host-local"},
				{"portmap", cni + "/plugins/meta/portmap"},
			},
		},
		{name: "coredns", pinned: "github.com/coredns/coredns", binaries: []binary{{"coredns", "github.com/coredns/coredns"}}},
		{
			name: "local-path", pinned: "github.com/rancher/local-path-provisioner",
			binaries: []binary{{"local-path-provisioner", "github.com/rancher/local-path-provisioner"}},
		},
	}
}

const containerdModule = "github.com/containerd/containerd/v2"

// kubernetesStamp gives the binaries their version; without it they call themselves v0.0.0-master.
func kubernetesStamp(version string) string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	var stamp strings.Builder
	// The first is what servers report, the second what clients send as their user agent.
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		fmt.Fprintf(&stamp, " -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s", pkg, version, major, minor)
	}
	return stamp.String()
}

// plan describes how to build one module: the flags, and the directory of its binaries.
type plan struct {
	module  module
	version string
	source  string
	ldflags string
	target  string
}

func newPlan(m module, modulesDir, cacheDir, toolchain string) (plan, error) {
	p := plan{module: m, source: filepath.Join(modulesDir, m.name), ldflags: "-s -w"}
	gomod, err := os.ReadFile(filepath.Join(p.source, "go.mod"))
	if err != nil {
		return plan{}, fmt.Errorf("reading the sources of %s: %w", m.name, err)
	}
	gosum, err := os.ReadFile(filepath.Join(p.source, "go.sum"))
	if err != nil {
		return plan{}, fmt.Errorf("reading the sources of %s: %w", m.name, err)
	}
	if p.version = requiredVersion(string(gomod), m.pinned); p.version == "" {
		return plan{}, fmt.Errorf("%s/go.mod does not require %s", p.source, m.pinned)
	}
	if m.stamp != nil {
		p.ldflags += m.stamp(p.version)
	}
	p.target = filepath.Join(cacheDir, "bin", m.name+"-"+p.version+"-"+buildKey(gomod, gosum, []byte(toolchain), []byte(p.ldflags+m.tags)))
	return p, nil
}

// buildKey changes whenever an input of the build does.
func buildKey(inputs ...[]byte) string {
	h := sha256.New()
	for _, in := range inputs {
		fmt.Fprintf(h, "%d\n", len(in))
		h.Write(in)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func requiredVersion(gomod, path string) string {
	for line := range strings.Lines(gomod) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == path && strings.HasPrefix(fields[1], "v") {
			return fields[1]
		}
	}
	return ""
}

func (p plan) path(b binary) string { return filepath.Join(p.target, b.name) }

func (p plan) missing() []binary {
	var missing []binary
	for _, b := range p.module.binaries {
		if _, err := os.Stat(p.path(b)); err != nil {
			missing = append(missing, b)
		}
	}
	return missing
}

// cacheRoot is where built binaries are kept: outside the work tree, shared by all clones.
func cacheRoot() (string, error) {
	if dir := os.Getenv("STATEFULSET_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache directory (set STATEFULSET_CACHE to choose one): %w", err)
	}
	return filepath.Join(dir, "statefulset-apiserver"), nil
}

// findModules returns the given directory, or searches for it from the current directory upwards.
func findModules(given string) (string, error) {
	if given != "" {
		return absolute("modules", given)
	}
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the modules directory: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		for _, candidate := range []string{filepath.Join(dir, "modules"), filepath.Join(dir, "test", "cluster", "modules")} {
			if _, err := os.Stat(filepath.Join(candidate, "kubernetes", "go.mod")); err == nil {
				return candidate, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New(
				"test/cluster/modules was not found in or above the current directory: run this in the work tree or use --modules")
		}
	}
}
