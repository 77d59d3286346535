//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package supply

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	root          = "../../.."
	vulnerability = "https://vuln.go.dev/index/modules.json"
)

// run runs a command in a directory, and returns what it prints to standard output.
func run(t *testing.T, dir string, name string, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), dir, name, args...).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, exit.Stderr)
	}
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

// flags are those with which the Makefile builds, so that packages are compiled once.
func flags(t *testing.T) []string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^GO_FLAGS := (.*)$`).FindStringSubmatch(read(t, filepath.Join(root, "Makefile")))
	if found == nil {
		t.Fatal("the Makefile has no line that begins with GO_FLAGS := ")
	}
	return strings.Fields(found[1])
}

// build builds a program as the Makefile does.
func build(t *testing.T, program string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), program)
	run(t, root, "go", append(append([]string{"build"}, flags(t)...), "-ldflags=-s -w", "-o", path, "./cmd/"+program)...)
	return path
}

func command(ctx context.Context, dir string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	return cmd
}

// TestTwoBuildsAreTheSame builds what is committed in two directories, with other times,
// time zones and permissions.
func TestTwoBuildsAreTheSame(t *testing.T) {
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatalf("finding the repository: %v", err)
	}
	with := flags(t)
	if !slices.Contains(with, "-trimpath") {
		t.Fatalf("the Makefile builds with %q, want -trimpath", with)
	}
	for _, program := range []string{"statefulset-apiserver", "kubectl-sts"} {
		var sums []string
		for i, zone := range []string{"UTC", "Asia/Kathmandu"} {
			dir := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i), "source")
			run(t, here, "git", "clone", "--quiet", "--no-hardlinks", here, dir)
			build := command(t.Context(), dir, "sh", "-c",
				fmt.Sprintf("umask 0%d; go build %s -ldflags='-s -w' -o built ./cmd/%s", 22+i*55, strings.Join(with, " "), program))
			build.Env = append(build.Env, "TZ="+zone, "HOME="+os.Getenv("HOME"))
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("building %s: %v\n%s", program, err, out)
			}
			content, err := os.ReadFile(filepath.Join(dir, "built"))
			if err != nil {
				t.Fatalf("reading %s: %v", program, err)
			}
			sums = append(sums, fmt.Sprintf("%x", sha256.Sum256(content)))
		}
		if sums[0] != sums[1] {
			t.Errorf("%s: got sums %s and %s, want the same", program, sums[0], sums[1])
		}
		t.Logf("%s: twice %s", program, sums[0])
	}
}

func TestModulesAreWhatTheyWere(t *testing.T) {
	if got := run(t, root, "go", "mod", "verify"); !strings.Contains(got, "all modules verified") {
		t.Errorf("go mod verify: got %q, want that all modules are verified", got)
	}
}

// licences are those that we may ship, and a sentence that each has and no other.
func licences() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		"Apache-2.0": regexp.MustCompile(`Apache License\s+Version 2\.0`),
		"MIT":        regexp.MustCompile(`Permission is hereby granted, free of charge, to any person obtaining a copy`),
		"ISC":        regexp.MustCompile(`Permission to use, copy, modify,? and/?(or)? distribute this software`),
		"BSD":        regexp.MustCompile(`Redistribution and use in source and binary forms`),
		"MPL-2.0":    regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`),
	}
}

// TestLicencesAreAllowed reads the licence of every module that is in the server and the
// plugin.
func TestLicencesAreAllowed(t *testing.T) {
	counts := map[string]int{}
	for _, program := range []string{"statefulset-apiserver", "kubectl-sts"} {
		info, err := buildinfo.ReadFile(build(t, program))
		if err != nil || len(info.Deps) < 20 {
			t.Fatalf("modules in %s: got %v, %v, want at least 20", program, info, err)
		}
		for _, module := range info.Deps {
			if strings.HasPrefix(module.Path, info.Main.Path+"/") {
				continue // a module of this repository
			}
			if module.Replace != nil {
				t.Errorf("%s replaces %s by %s, want no replacement", program, module.Path, module.Replace.Path)
			}
			licence := licenceOf(t, strings.TrimSpace(run(t, root, "go", "list", "-m", "-f", "{{.Dir}}", module.Path)))
			if licence == "" {
				t.Errorf("%s %s, in %s: got no licence that is known, want one of Apache-2.0, MIT, BSD, ISC, MPL-2.0", module.Path, module.Version,
					program)
			}
			counts[licence]++
		}
	}
	t.Logf("modules by licence: %v", counts)
}

func licenceOf(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("reading a module: %v", err)
	}
	for _, entry := range entries {
		name := strings.ToUpper(entry.Name())
		if entry.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "UNLICENSE") {
			continue
		}
		text := strings.Join(strings.Fields(read(t, filepath.Join(dir, entry.Name()))), " ")
		for licence, sentence := range licences() {
			if sentence.MatchString(text) {
				return licence
			}
		}
	}
	return ""
}

// TestKnownVulnerabilities asks the database of Go, where it can be reached.
func TestKnownVulnerabilities(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	asking, err := http.NewRequestWithContext(ctx, http.MethodHead, vulnerability, nil)
	if err != nil {
		t.Fatalf("asking: %v", err)
	}
	answer, err := http.DefaultClient.Do(asking)
	if err == nil {
		_ = answer.Body.Close()
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		// Not a skip: everything else is checked, and a release is made where it can be.
		t.Logf("the database of known vulnerabilities cannot be reached from here, and was not asked: %v", err)
		return
	}
	if out, err := command(t.Context(), root, "go", "tool", "-modfile=go.tools.mod", "govulncheck", "./cmd/...").CombinedOutput(); err != nil {
		t.Errorf("govulncheck: %v\n%s", err, out)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	return string(content)
}

// TestNoDefaultIsInsecure reads every flag of the server. One that gives safety up says so
// in its name, is off, and there is none that serves without TLS.
func TestNoDefaultIsInsecure(t *testing.T) {
	help := read(t, filepath.Join(root, "cmd/statefulset-apiserver/testdata/help.txt"))
	var unsafe []string
	for _, flag := range regexp.MustCompile(`(?m)^ +(?:-\w, )?--([\w-]+)(.*)\n((?: {16}.*\n)*)`).FindAllStringSubmatch(help, -1) {
		if !strings.Contains(flag[1], "insecure") && !strings.Contains(flag[1], "always-allow") && !strings.Contains(flag[1], "tolerate") &&
			!strings.Contains(flag[1], "skip") {
			continue
		}
		unsafe = append(unsafe, flag[1])
		if strings.Contains(flag[3], "(default true)") {
			t.Errorf("--%s: got on by default, want off", flag[1])
		}
	}
	want := []string{"authentication-skip-lookup", "authentication-tolerate-lookup-failure", "authorization-always-allow-paths",
		"backup-insecure-plaintext", "etcd-insecure-plaintext"}
	slices.Sort(unsafe)
	if !slices.Equal(unsafe, want) {
		t.Errorf("flags that give safety up: got %q, want %q", unsafe, want)
	}
	built := build(t, "statefulset-apiserver")
	for _, flag := range []string{
		"--insecure-port=8080", "--insecure-bind-address=0.0.0.0", "--insecure-skip-tls-verify", "--anonymous-auth=true"} {
		out, err := command(t.Context(), t.TempDir(), built, flag).CombinedOutput()
		if err == nil || !bytes.Contains(out, []byte("unknown flag")) {
			t.Errorf("%s: got %v, %s, want that it is unknown", flag, err, out)
		}
	}
}

// TestNoKeyIsInTheRepository looks for what must not be published in all files that are.
func TestNoKeyIsInTheRepository(t *testing.T) {
	secret := regexp.MustCompile(
		`-----BEGIN [A-Z ]*PRIVATE KEY-----\s*\n?[A-Za-z0-9+/=]{20,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|xox[baprs]-[A-Za-z0-9-]{10,}|client-key-data: *[A-Za-z0-9+/=]{40,}|eyJhbGciOi[A-Za-z0-9_-]{20,}\.eyJ`)
	if sample := "-----BEGIN EC PRIVATE " + "KEY-----\nMHcCAQEEIAAAAAAAAAAAAAAAAAAAAAAA"; !secret.MatchString(sample) {
		t.Fatalf("the search does not find %q", sample)
	}
	files := strings.Split(strings.TrimSpace(run(t, root, "git", "ls-files")), "\n")
	if len(files) < 100 {
		t.Fatalf("files: got %d, want at least 100", len(files))
	}
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted and not committed yet
		}
		if found := secret.Find(content); found != nil {
			t.Errorf("%s has what looks like a key: %.30q", name, found)
		}
		if extension := filepath.Ext(name); extension == ".key" || extension == ".pem" || extension == ".p12" || extension == ".pfx" {
			t.Errorf("%s: got a file that is named like a key, want none", name)
		}
	}
	t.Logf("%d files, 0 keys", len(files))
}

// TestTheCodeIsScanned runs gosec on what is shipped, with the exclusions of .golangci.yml and their reasons.
func TestTheCodeIsScanned(t *testing.T) {
	if config := read(t, filepath.Join(root, ".golangci.yml")); !strings.Contains(config, "- gosec\n") {
		t.Error(".golangci.yml does not have gosec on")
	}
	tools, err := filepath.Abs(filepath.Join(root, "go.tools.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for module, packages := range map[string][]string{
		".": {"./apiserver/...", "./cmd/...", "./controller/...", "./identity/...", "./registry/...", "./store/...", "./version/...",
			"./window/..."},
		"api":    {"./..."},
		"client": {"./..."},
	} {
		out, err := command(t.Context(), filepath.Join(root, module), "go", append([]string{"tool", "-modfile=" + tools, "golangci-lint", "run",
			"--allow-serial-runners", "--timeout=14m", "--tests=false", "--enable-only=gosec"}, packages...)...).CombinedOutput()
		if err != nil {
			t.Errorf("gosec in module %s: %v\n%s", module, err, out)
		}
	}
}
