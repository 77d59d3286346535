// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"bytes"
	"slices"
	"testing"
	"time"
)

func TestAPackageIsTheSameWheneverAndInWhateverOrderItWasPacked(t *testing.T) {
	created := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	files := []archived{{"package/b.js", 0o644, []byte("b")}, {"package/a.js", 0o644, []byte("a")},
		{"META-INF/MANIFEST.MF", 0o644, []byte("Manifest-Version: 1.0\n")}}
	backward := slices.Clone(files)
	slices.Reverse(backward)
	for name, pack := range map[string]func(time.Time, []archived) ([]byte, error){
		"client.tgz": tarGz, "client.tar.gz": tarGz, "client.jar": jar} {
		var packed [2][]byte
		for i, entries := range [][]archived{files, backward} {
			made, err := pack(created.Add(time.Duration(i)*time.Hour), entries)
			if err != nil {
				t.Fatal(err)
			}
			if packed[i], err = repack(name, made, created); err != nil {
				t.Fatalf("packing %s anew: %v", name, err)
			}
		}
		if !bytes.Equal(packed[0], packed[1]) {
			t.Errorf("%s: got %d bytes and %d other ones, want the same", name, len(packed[0]), len(packed[1]))
		}
	}
}

func TestAJarBeginsWithItsManifest(t *testing.T) {
	made, err := jar(time.Now(), []archived{{"A.class", 0o644, []byte("a")}, {"META-INF/MANIFEST.MF", 0o644, []byte("m")}})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := repack("client.jar", made, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	read, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := read.File[0].Name, "META-INF/MANIFEST.MF"; got != want || len(read.File) != 2 {
		t.Errorf("got %d files, the first of them %s, want 2 and %s", len(read.File), got, want)
	}
}

func TestAnArchiveOfAnotherKindIsRefused(t *testing.T) {
	if got, err := repack("client.whl", nil, time.Now()); err == nil {
		t.Errorf("got %d bytes, want an error", len(got))
	}
}

// jar packs files as the tools of Java do.
func jar(created time.Time, entries []archived) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, e := range entries {
		to, err := w.CreateHeader(&zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: created})
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(e.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
