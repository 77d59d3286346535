// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const krewFolder = "../../artifacts/krew"

// krewManifest has the fields that krew documents for a plugin.
type krewManifest struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string         `json:"version"`
		Homepage         string         `json:"homepage"`
		ShortDescription string         `json:"shortDescription"`
		Description      string         `json:"description"`
		Caveats          string         `json:"caveats"`
		Platforms        []krewPlatform `json:"platforms"`
	} `json:"spec"`
}

type krewPlatform struct {
	URI      string                `json:"uri"`
	SHA256   string                `json:"sha256"`
	Bin      string                `json:"bin"`
	Selector *metav1.LabelSelector `json:"selector"`
}

// archives writes one for every platform that the manifest names.
func archives(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, platform := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64"} {
		if err := os.WriteFile(filepath.Join(folder, "kubectl-sts_"+platform+".tar.gz"), []byte(platform), 0o600); err != nil {
			t.Fatalf("writing an archive: %v", err)
		}
	}
	return folder
}

func fill(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(krewFolder, "fill.sh"), args...).CombinedOutput()
	return string(out), err
}

func TestKrewManifestIsValidWhenFilled(t *testing.T) {
	filled, err := fill(t, "v1.2.3", "https://example.test/v1.2.3/", archives(t))
	if err != nil {
		t.Fatalf("filling the manifest: %v\n%s", err, filled)
	}
	var manifest krewManifest
	if err := yaml.UnmarshalStrict([]byte(filled), &manifest); err != nil {
		t.Fatalf("the manifest has fields that krew does not know: %v\n%s", err, filled)
	}
	if manifest.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || manifest.Kind != "Plugin" || manifest.Metadata.Name != "sts" {
		t.Errorf("it is %s %s %q, want the plugin sts in v1alpha2", manifest.APIVersion, manifest.Kind, manifest.Metadata.Name)
	}
	if s := manifest.Spec.ShortDescription; s == "" || len(s) > 50 || strings.Contains(s, "\n") {
		t.Errorf("its short description is %q, want one line of at most 50 characters", s)
	}
	if manifest.Spec.Version != "v1.2.3" || manifest.Spec.Homepage == "" || len(manifest.Spec.Platforms) != 5 {
		t.Errorf("got version %q, homepage %q and %d platforms, want v1.2.3, a homepage and 5", manifest.Spec.Version, manifest.Spec.Homepage,
			len(manifest.Spec.Platforms))
	}
	sums := map[string]bool{}
	for _, p := range manifest.Spec.Platforms {
		sums[p.SHA256] = true
		want := "https://example.test/v1.2.3/kubectl-sts_" + p.Selector.MatchLabels["os"] + "_" + p.Selector.MatchLabels["arch"] + ".tar.gz"
		if p.URI != want || !regexp.MustCompile(`^[a-f0-9]{64}$`).MatchString(p.SHA256) || !strings.HasPrefix(p.Bin, "kubectl-sts") ||
			len(p.Selector.MatchLabels) != 2 {
			t.Errorf("got platform %+v, want the archive %s, its sum, the program, and a selector by os and arch", p, want)
		}
	}
	if len(sums) != len(manifest.Spec.Platforms) {
		t.Errorf("got %d different sums for %d archives", len(sums), len(manifest.Spec.Platforms))
	}
	if strings.Contains(filled, "@") {
		t.Errorf("something is left to be filled in:\n%s", filled)
	}
}

func TestKrewManifestIsNotFilledByHalves(t *testing.T) {
	folder := archives(t)
	for sentence, c := range map[string]struct {
		args []string
		want string
	}{
		"without a version":     {nil, "name the version"},
		"with a bad version":    {[]string{"1.2", "https://example.test", folder}, "version 1.2: want one such as v1.2.3"},
		"with a bad URL":        {[]string{"v1.2.3", "http://example.test", folder}, "want one that begins with https://"},
		"with archives missing": {[]string{"v1.2.3", "https://example.test", t.TempDir()}, "kubectl-sts_linux_amd64.tar.gz is missing"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, err := fill(t, c.args...); err == nil || !strings.Contains(got, c.want) || strings.Contains(got, "kind: Plugin") {
				t.Errorf("got %v\n%s\nwant an error that contains %q, and no manifest", err, got, c.want)
			}
		})
	}
}
