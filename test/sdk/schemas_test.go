//go:build sdk

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"statefulset.dev/test/harness"
)

// TestWhatIsStoredIsAsItsSchemaSays creates the examples, and checks what the cluster makes of each, and the
// plan of it.
func TestWhatIsStoredIsAsItsSchemaSays(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join(root, "artifacts/examples/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	grantObjects(t)
	dir := t.TempDir()
	var files []string
	for _, example := range examples {
		text, err := os.ReadFile(example)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "kind: StatefulSet\n") {
			continue // about the server
		}
		namespace := suite.Namespace(t, "sdk")
		harness.Eventually(t, filepath.Base(example)+" may be created", func(ctx context.Context) error {
			_, _, err := suite.Kubectl(ctx, "", "apply", "-n", namespace, "-f", example)
			return err
		})
		all := "/apis/apps.statefulset.dev/v1/namespaces/" + namespace + "/statefulsets"
		for part, path := range map[string]string{
			"list": "", "plan": "/" + nameOf(t, string(text)) + "/plan", "set": "/" + nameOf(t, string(text))} {
			got := suite.MustKubectl(t, "", "get", "--raw", all+path)
			files = append(files, keep(t, filepath.Join(dir, part+"-"+namespace+".json"), got))
		}
	}
	if len(files) < 36 {
		t.Fatalf("got %d objects, want those of at least 12 examples", len(files))
	}
	check := exec.CommandContext(t.Context(), "go", append([]string{"run", ".", "check", "--schemas", "../../openapi/schemas"}, files...)...)
	check.Dir = filepath.Join(root, "hack/sdk")
	output, err := check.CombinedOutput()
	if err != nil {
		t.Errorf("checking: %v\n%s", err, output)
	}
	t.Logf("%s", output)
}

// grantObjects lets the controller make and delete what sets of the examples describe. The host takes a moment to
// give it the rights.
func grantObjects(t *testing.T) {
	t.Helper()
	roles, err := filepath.Glob(filepath.Join(root, "artifacts/objects*/*"))
	if err != nil || len(roles) == 0 {
		t.Fatalf("looking for roles: got %v, error %v", roles, err)
	}
	for _, role := range roles {
		suite.MustKubectl(t, "", "apply", "-k", role)
		t.Cleanup(func() {
			if _, _, err := suite.Kubectl(context.WithoutCancel(t.Context()), "", "delete", "-k", role); err != nil {
				t.Errorf("taking the rights away: %v", err)
			}
		})
	}
}

// nameOf is the name of the set in a manifest.
func nameOf(t *testing.T, manifest string) string {
	t.Helper()
	found := regexp.MustCompile(`kind: StatefulSet\nmetadata:\n  name: (\S+)`).FindStringSubmatch(manifest)
	if found == nil {
		t.Fatalf("there is no name in\n%s", manifest)
	}
	return found[1]
}

func keep(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
