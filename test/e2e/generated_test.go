//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// TestLifeOfTheExampleWithGeneratedSecrets scales the example, deletes a pod, deletes the Secret that all
// have, and puts it back by hand. It is not parallel, because it gives the controller a right, and takes it
// away again.
//
//nolint:paralleltest // see above
func TestLifeOfTheExampleWithGeneratedSecrets(t *testing.T) {
	ns := namespace(t)
	content, err := os.ReadFile("../../artifacts/examples/generated-secret.yaml")
	if err != nil {
		t.Fatalf("reading the example: %v", err)
	}
	mayMake(t, "secrets", true)
	takeAwayAgain(t, "objects/secrets")
	kubectlApply(t, string(content), "-n", ns)
	waitReady(t, ns, "db", 2)
	password, token := secretText(t, ns, "db-sst", "password"), secretText(t, ns, "db-0-token", "token")
	if len(password) != 32 || len(token) != 43 || secretText(t, ns, "db-1-token", "token") == token {
		t.Errorf("drawn are %d and %d characters, want 32 and 43, and another token for db-1", len(password), len(token))
	}

	kubectl(t, "scale", kind, "db", "-n", ns, "--replicas=1")
	waitReady(t, ns, "db", 1)
	kubectl(t, "label", "secret", "db-sst", "-n", ns, "apps.statefulset.dev/template=mine", "--overwrite")
	kubectl(t, "scale", kind, "db", "-n", ns, "--replicas=3")
	waitReady(t, ns, "db", 3)
	kubectl(t, "delete", "pod", "db-0", "-n", ns)
	waitReady(t, ns, "db", 3)
	if now := secretText(t, ns, "db-sst", "password"); now != password {
		t.Error("after members have come and gone, the password is another one")
	}

	kubectl(t, "delete", "secret", "db-sst", "-n", ns)
	kubectl(t, "delete", "pod", "db-1", "-n", ns)
	set := waitReason(t, ns, v1.StatefulSetStalled, v1.ReasonGeneratedSecretMissing,
		"Secret db-sst is gone: restore it, or create it by hand with key password")
	if strings.Contains(set.String(), password) {
		t.Error("the set has the password")
	}
	kubectl(t, "create", "secret", "generic", "db-sst", "-n", ns, "--from-literal=password="+password)
	waitReady(t, ns, "db", 3)
	events, err := suite.Host.CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	planned := kubectl(t, "get", "--raw", "/apis/apps.statefulset.dev/v1/namespaces/"+ns+"/statefulsets/db/plan")
	for _, text := range []string{password, token} {
		if strings.Contains(events.String(), text) {
			t.Error("an event has what was drawn")
		}
		if strings.Contains(planned, text) {
			t.Error("the plan has what was drawn")
		}
		expectInNoLog(t, text)
	}
}

// expectInNoLog reads all logs of the cluster, the host's audit log among them.
func expectInNoLog(t *testing.T, text string) {
	t.Helper()
	err := filepath.WalkDir(suite.Path("logs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		for reader := bufio.NewReaderSize(file, 1<<20); ; {
			line, err := reader.ReadString('\n')
			if strings.Contains(line, text) {
				t.Errorf("%s has what was drawn, in a line of %d bytes", path, len(line))
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
	if err != nil {
		t.Fatalf("reading the logs: %v", err)
	}
}

func secretText(t *testing.T, ns, name, key string) string {
	t.Helper()
	secret, err := suite.Host.CoreV1().Secrets(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(secret.Data[key])
}
