// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// component is a module of another project that is linked into a program, or Go itself.
type component struct {
	path, version string
	// dir is its directory, and packages are the directories of its linked packages.
	dir      string
	packages []string
}

func (c component) String() string { return c.path + " " + c.version }

// nameOf returns the import path of a package, given its directory.
func (c component) nameOf(pkg string) string {
	return c.path + filepath.ToSlash(strings.TrimPrefix(pkg, c.dir))
}

// dirs returns the directories in which files may apply to the linked packages, from the top.
func (c component) dirs() []string {
	var all []string
	for _, pkg := range c.packages {
		all = append(all, upwards(pkg, c.dir)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// upwards returns a directory and the directories above it, up to the top.
func upwards(dir, top string) []string {
	all := []string{dir}
	for dir != top && strings.HasPrefix(dir, top) {
		dir = filepath.Dir(dir)
		all = append(all, dir)
	}
	return all
}

// listed has the fields of a package that "go list" prints.
type listed struct {
	Dir      string
	Standard bool
	Module   *listedModule
}

type listedModule struct {
	Path, Version, Dir string
	Main               bool
	Replace            *listedModule
}

// linked returns the components of a program for a platform: Go, and then the modules in the order
// of their paths.
func linked(ctx context.Context, module, pkg string, on platform) ([]component, error) {
	packages, err := goTool(ctx, module, on, "list", "-deps", "-json=Dir,Standard,Module", pkg)
	if err != nil {
		return nil, err
	}
	printed, err := goTool(ctx, module, on, "env", "GOROOT", "GOVERSION")
	if err != nil {
		return nil, err
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(printed)), "\n")
	all, ours := map[string]*component{}, ""
	for decoder := json.NewDecoder(bytes.NewReader(packages)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the packages linked into %s: %w", pkg, err)
		}
		m := p.Module
		if p.Standard || m == nil {
			continue
		}
		if m.Main {
			ours = m.Path
			continue
		}
		if m.Replace != nil && m.Replace.Version != "" {
			m = m.Replace
		}
		if all[m.Path] == nil {
			all[m.Path] = &component{path: m.Path, version: m.Version, dir: cmp.Or(m.Dir, p.Module.Dir)}
		}
		all[m.Path].packages = append(all[m.Path].packages, p.Dir)
	}
	components := []component{{path: "Go", version: strings.TrimPrefix(version, "go"), dir: root, packages: []string{root}}}
	for path, c := range all {
		if !strings.HasPrefix(path, ours+"/") { // a module below ours is in the same repository
			components = append(components, *c)
		}
	}
	slices.SortFunc(components[1:], func(a, b component) int { return strings.Compare(a.path, b.path) })
	return components, nil
}

// goTool runs the go command in the same environment as build, and returns its output.
func goTool(ctx context.Context, module string, on platform, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = module, on.environment()
	var failed bytes.Buffer
	cmd.Stderr = &failed
	printed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running go %s: %w:\n%s", strings.Join(args, " "), err, failed.Bytes())
	}
	return printed, nil
}
