// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"debug/buildinfo"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	isc = `Copyright (c) 2026 Somebody

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`
	unlicense = `This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
	gpl = `This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.

This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.
`
)

// linking is a work tree whose programs link one module of somebody else, with these files.
func linking(t *testing.T, files map[string]string) *release {
	t.Helper()
	r := &release{source: source{root: t.TempDir()}, created: time.Unix(0, 0).UTC(), version: "v1.2.3", dir: t.TempDir(), work: t.TempDir(),
		out: io.Discard}
	all := map[string]string{
		"go.mod":          "module example.org/ours\n\ngo 1.26\n\nrequire example.org/theirs v1.4.0\n\nreplace example.org/theirs => ./theirs\n",
		"LICENSE":         "ours",
		"theirs/go.mod":   "module example.org/theirs\n\ngo 1.26\n",
		"theirs/sub/a.go": "// Package sub is linked.\npackage sub\n",
	}
	for _, pkg := range []string{serverPackage, pluginPackage} {
		all[filepath.Join(pkg, "main.go")] = "package main\n\nimport _ \"example.org/theirs/sub\"\n\nfunc main() {}\n"
	}
	for file, content := range files {
		all["theirs/"+file] = content
	}
	for file, content := range all {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.root, file)), 0o750); err != nil {
			t.Fatal(err)
		}
		r.put(t, file, content)
	}
	return r
}

func TestLicencesThatAreRefused(t *testing.T) {
	const theirs = "example.org/theirs v1.4.0: "
	cases := map[string]struct {
		files map[string]string
		// want is in the message; no error is wanted if it is empty.
		want string
	}{
		"an allowed licence":                  {map[string]string{"LICENSE": isc}, ""},
		"an allowed one in the package alone": {map[string]string{"sub/COPYING.txt": isc}, ""},
		"two of which one is not allowed": {map[string]string{"LICENSE": isc, "LICENSE.other": unlicense},
			theirs + "LICENSE.other is Unlicense, want one of Apache-2.0, BSD-2-Clause, BSD-3-Clause, ISC, MIT, MPL-2.0"},
		"two in one file of which one is not allowed": {map[string]string{"LICENSE": isc + "\n" + gpl}, theirs + "LICENSE is GPL-3.0"},
		"one of the package that is not allowed": {
			map[string]string{"LICENSE": isc, "sub/LICENCE": gpl}, theirs + "sub/LICENCE is GPL-3.0"},
		"one of a package that is not linked": {map[string]string{"LICENSE": isc, "tool/LICENSE": gpl}, ""},
		"one of the documentation":            {map[string]string{"LICENSE": isc, "LICENSE.docs": gpl}, ""},
		"a text that nobody knows": {
			map[string]string{"LICENSE": "You may use this on Mondays."}, theirs + "LICENSE is not a known licence (0 % of it matches known licences)"},
		"an allowed one with conditions that were added": {map[string]string{
			"LICENSE": isc + strings.Repeat("You must not use it to compete with us. ", 40)}, theirs + "LICENSE is not a known licence"},
		"none":                       {nil, theirs + "no licence found for example.org/theirs/sub"},
		"a notice without a licence": {map[string]string{"NOTICE": isc}, theirs + "no licence found for example.org/theirs/sub"},
		"one of another package":     {map[string]string{"tool/LICENSE": isc}, theirs + "no licence found for example.org/theirs/sub"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := linking(t, c.files).licences(t.Context())
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got error %v, want none", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got error %v, want one that says %q", err, c.want)
			}
		})
	}
}

func TestLicencesGoWithProgramsAndImages(t *testing.T) {
	r := linking(t, map[string]string{"LICENSE": isc, "NOTICE": "Theirs, by Somebody.", "sub/LICENSE": isc})
	const want = "example.org/theirs v1.4.0: LICENSE\nexample.org/theirs v1.4.0: sub/LICENSE\n" // one text, below both names
	here := platform{"linux", runtime.GOARCH}
	if err := r.program(t.Context(), pluginPackage, here, []byte("ours")); err != nil {
		t.Fatal(err)
	}
	files := untar(t, r.read(t, "kubectl-sts_"+here.String()+".tar.gz"))
	for _, words := range []string{want, isc, "Theirs, by Somebody.", "Go " + strings.TrimPrefix(runtime.Version(), "go") + ": LICENSE"} {
		if !strings.Contains(files[noticesFile], strings.TrimSpace(words)) {
			t.Errorf("the archive: got %.400q, want it to say %q", files[noticesFile], words)
		}
	}
	inImage, err := program(pluginPackage, "/kubectl-sts")(t.Context(), r.source, here.arch, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	layer, err := layerOf(inImage, r.created)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(entry(t, layer, "usr/share/doc/kubectl-sts/"+noticesFile)); got != files[noticesFile] {
		t.Errorf("the image: got %.400q, want what the archive has", got)
	}
	if got := string(entry(t, layer, "usr/share/doc/kubectl-sts/LICENSE")); got != "ours" {
		t.Errorf("our licence in the image: got %q, want %q", got, "ours")
	}
	if got := modes(t, layer)["usr/share/doc/kubectl-sts/LICENSE"]; got != 0o644 {
		t.Errorf("mode of a licence: got %o, want 644", got)
	}
}

func modes(t *testing.T, layer []byte) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for r := tar.NewReader(bytes.NewReader(layer)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[header.Name] = header.Mode
	}
}

func TestBusyboxHasItsLicence(t *testing.T) {
	files, err := busybox(t.Context(), source{}, "", "")
	if err != nil {
		t.Skip(err)
	}
	if got, want := files["/usr/share/doc/busybox-static/copyright"], "/usr/share/doc/busybox-static/copyright"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNothingIsLinkedWithoutItsLicence compares what is judged with what the linker tells.
func TestNothingIsLinkedWithoutItsLicence(t *testing.T) {
	components, err := linked(t.Context(), ".", ".", platform{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		t.Fatal(err)
	}
	judged := map[string]string{}
	for _, c := range components {
		judged[c.path] = c.version
	}
	dir := t.TempDir()
	binary, err := build(t.Context(), ".", "", ".", filepath.Join(dir, "release"), platform{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		t.Fatal(err)
	}
	built, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range built.Deps {
		if judged[module.Path] != module.Version {
			t.Errorf("%s: got version %q, want %q", module.Path, judged[module.Path], module.Version)
		}
	}
	if want := len(built.Deps) + 1; len(components) != want {
		t.Errorf("got %d components, want %d: the modules and Go", len(components), want)
	}
}

func TestEveryLicenceOfThisTreeIsAllowed(t *testing.T) {
	if err := ofThisTree(t).licences(t.Context()); err != nil {
		t.Error(err)
	}
}
