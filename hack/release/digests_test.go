// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
)

// The digest that a release tells before anything is pushed is the one that a registry then has.
func TestTheDigestOfAnArchiveIsThatOfThePushedImage(t *testing.T) {
	spec, created := small(t), time.Unix(0, 0)
	built, err := (source{}).assemble(t.Context(), spec, created, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want, err := built.image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "small.tar")
	if _, err := built.archive(archive, created); err != nil {
		t.Fatal(err)
	}
	if got, err := digestOf(archive); err != nil || got != want.String() {
		t.Errorf("got %s and error %v, want %s", got, err, want)
	}
	to, err := name.NewTag("127.0.0.1:1/small:v1")
	if err != nil {
		t.Fatal(err)
	}
	err = (source{}).pushOne(t.Context(), spec, created, to, "sha256:"+strings.Repeat("0", 64), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "has digest "+want.String()+", but the release has sha256:0000") {
		t.Errorf("pushing what the release has not: got error %v, want one with both digests", err)
	}
}

func TestTheListOfDigestsIsSigned(t *testing.T) {
	keys := t.TempDir()
	key := filepath.Join(keys, "key")
	if output, err := exec.CommandContext(t.Context(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("making a key: %v: %s", err, output)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	allowed := filepath.Join(keys, "allowed_signers")
	if err := os.WriteFile(allowed, append([]byte("release@statefulset.dev "), public...), 0o600); err != nil {
		t.Fatal(err)
	}
	r := ofThisTree(t)
	r.signingKey = key
	r.digests = map[string]string{serverImage: "sha256:" + strings.Repeat("1", 64), pluginImage: "sha256:" + strings.Repeat("2", 64)}
	if err := r.writeDigests(t.Context()); err != nil {
		t.Fatal(err)
	}
	verify := func(content string) error {
		cmd := exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-n", "file", "-f", allowed, "-I", "release@statefulset.dev", "-s",
			r.path(digestsFile+".sig"))
		cmd.Stdin = strings.NewReader(content)
		return cmd.Run()
	}
	list := string(r.read(t, digestsFile))
	if err := verify(list); err != nil {
		t.Errorf("the list: got error %v, want that it is verified", err)
	}
	if err := verify(strings.Replace(list, "1", "3", 1)); err == nil {
		t.Error("a list with another digest: got no error, want one")
	}
	want := "sha256:" + strings.Repeat("1", 64) + "  registry.example/team/statefulset-apiserver:v1.2.3-rc.1\n"
	if !strings.Contains(list, want) {
		t.Errorf("got %q, want it to have %q", list, want)
	}
	if got, err := readDigests(r.path(digestsFile)); err != nil || got[serverImage] != r.digests[serverImage] ||
		got[pluginImage] != r.digests[pluginImage] {
		t.Errorf("read again: got %v and error %v, want %v", got, err, r.digests)
	}
}
