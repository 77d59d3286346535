// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// ofThisTree is a release of the tree that is tested, whose files go to a directory of the test.
func ofThisTree(t *testing.T) *release {
	t.Helper()
	return &release{
		source: source{root: "../.."}, created: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		version: "v1.2.3-rc.1", registry: "registry.example/team", dir: t.TempDir(), out: io.Discard,
	}
}

func (r *release) read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(r.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestTheChartNamesTheReleaseAndItsImages(t *testing.T) {
	r := ofThisTree(t)
	server, plugin := "sha256:"+strings.Repeat("1", 64), "sha256:"+strings.Repeat("2", 64)
	r.digests = map[string]string{serverImage: server, pluginImage: plugin}
	if err := r.chart(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := untar(t, r.read(t, "statefulset-apiserver-1.2.3-rc.1.tgz"))
	for file, want := range map[string][]string{
		"statefulset-apiserver/Chart.yaml": {"\nversion: 1.2.3-rc.1\n", "\nappVersion: v1.2.3-rc.1\n"},
		"statefulset-apiserver/values.yaml": {"repository: registry.example/team/statefulset-apiserver\n",
			"repository: registry.example/team/kubectl-sts\n", "\n  digest: " + server + "\n", "\n    digest: " + plugin + "\n"},
		"statefulset-apiserver/values.schema.json": {`"additionalProperties"`},
	} {
		for _, words := range want {
			if !strings.Contains(files[file], words) {
				t.Errorf("%s: got %.300q, want it to say %q", file, files[file], words)
			}
		}
	}
}

func TestTheDocumentAndTheSchemasAreThoseOfTheRepository(t *testing.T) {
	r := ofThisTree(t)
	if err := r.schemas(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := untar(t, r.read(t, "schemas.tar.gz"))
	files["openapi.json"] = string(r.read(t, "openapi.json"))
	for name, source := range map[string]string{
		"openapi.json": publishedDocument,
		"schemas/apps.statefulset.dev/statefulset_v1.json": publishedSchemas + "/apps.statefulset.dev/statefulset_v1.json",
	} {
		want, err := os.ReadFile("../../" + source)
		if err != nil {
			t.Fatal(err)
		}
		if files[name] != string(want) {
			t.Errorf("%s: got %d bytes, want the %d of %s", name, len(files[name]), len(want), source)
		}
	}
}

func untar(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
}

func TestTheBillOfMaterialsHasEveryModule(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	bill, err := billOfMaterials(program, "v1.2.3", time.Unix(0, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct {
			Name, Version, Purl string
		}
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(bill, &got); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, c := range got.Components {
		versions[c.Name] = c.Version
		if want := "pkg:golang/" + c.Name + "@" + c.Version; c.Purl != want {
			t.Errorf("the address of %s: got %q, want %q", c.Name, c.Purl, want)
		}
	}
	built, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if len(built.Deps) == 0 {
		t.Fatal("this program tells nothing of its modules")
	}
	for _, module := range built.Deps {
		if versions[module.Path] != module.Version {
			t.Errorf("%s: got version %q, want %q", module.Path, versions[module.Path], module.Version)
		}
	}
	if want := len(built.Deps) + 1; got.BOMFormat != "CycloneDX" || len(got.Components) != want || len(got.Dependencies) != 1 ||
		len(got.Dependencies[0].DependsOn) != want {
		t.Errorf("got %s with %d components, want CycloneDX with %d: the modules and the standard library", got.BOMFormat, len(got.Components),
			want)
	}
}

func TestTheCompleterAsksThePlugin(t *testing.T) {
	r := ofThisTree(t)
	if err := r.completions(t.Context()); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(bin+"/kubectl-sts", []byte("#!/bin/sh\nprintf '<%s>' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	got, err := exec.CommandContext(t.Context(), "sh", r.path("kubectl_complete-sts"), "rollout", "status", "a b", "").Output()
	if want := "<__complete><rollout><status><a b><>"; err != nil || string(got) != want {
		t.Errorf("got %s and error %v, want %s", got, err, want)
	}
}

func TestTheChecksumsAreSigned(t *testing.T) {
	r := ofThisTree(t)
	if err := r.write("file", []byte("content")); err != nil {
		t.Fatal(err)
	}
	keys := t.TempDir()
	r.signingKey = keys + "/key"
	execute(t, keys, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "release", "-f", r.signingKey)
	if err := r.checksums(t.Context()); err != nil {
		t.Fatal(err)
	}
	execute(t, r.dir, "sha256sum", "--check", "--strict", sumsFile)
	public, err := os.ReadFile(r.signingKey + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys+"/signers", append([]byte("release@example.org "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	verify := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-f", keys+"/signers", "-I", "release@example.org", "-n", "file",
		"-s", r.path(sumsFile+".sig"))
	verify.Stdin = bytes.NewReader(r.read(t, sumsFile))
	if output, err := verify.CombinedOutput(); err != nil {
		t.Errorf("verifying the signature: %v\n%s", err, output)
	}
}

func execute(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", program, args, err, output)
	}
}
