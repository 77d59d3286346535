// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package kustomize

import (
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheComponentIsARemoteBase names the component by a URL, as users do. KUSTOMIZE_COMPONENT is that URL. Without it, git
// serves a repository with the component over HTTP on the loopback.
func TestTheComponentIsARemoteBase(t *testing.T) {
	url := os.Getenv("KUSTOMIZE_COMPONENT")
	if url == "" {
		url = serveComponent(t) + "//artifacts/kustomize?ref=v1.0.0"
	}
	c := layerCases(t)[0]
	want := build(t, c.files)
	remote := tree{c.component: "components:\n- " + url + "\n"}
	if diff := cmp.Diff(want, buildAsBuiltin(t, c.files.with(remote))); diff != "" {
		t.Errorf("with the component from %s, our kind differs from the built-in (-want +got):\n%s", url, diff)
	}
}

// TestTheReferenceOfTheURLIsUsed asks for a tag that does not exist.
func TestTheReferenceOfTheURLIsUsed(t *testing.T) {
	files := one(t, "", "\ncomponents:\n- "+serveComponent(t)+"//artifacts/kustomize?ref=v9.9.9\n").files
	_, err := tryBuild(filepath.Join(files.write(t), "app"))
	if err == nil || !strings.Contains(err.Error(), "v9.9.9") {
		t.Errorf("building with a tag that does not exist: got error %v, want one that names v9.9.9", err)
	}
}

// serveComponent returns the URL of a repository that has the component at the tag v1.0.0.
func serveComponent(t *testing.T) string {
	t.Helper()
	parent := t.TempDir()
	repository := filepath.Join(parent, "repository")
	if err := os.CopyFS(filepath.Join(repository, "artifacts", "kustomize"), os.DirFS(componentDir)); err != nil {
		t.Fatal(err)
	}
	git(t, repository, "init", "--quiet")
	git(t, repository, "add", ".")
	git(t, repository, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message=component")
	git(t, repository, "tag", "v1.0.0")
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(git(t, repository, "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + parent, "GIT_HTTP_EXPORT_ALL=1"},
	})
	t.Cleanup(server.Close)
	return server.URL + "/repository/.git"
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, output)
	}
	return strings.TrimSpace(string(output))
}
