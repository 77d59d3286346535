//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness/lab"
)

// TestNothingEmptiesAFilledSecret installs, upgrades and removes in every way that creates the
// empty Secret, while a server has filled it.
func TestNothingEmptiesAFilledSecret(t *testing.T) {
	s := open(t)
	// No authority takes the place of another meanwhile.
	s.server.Args = s.server.Args.With("tls-auto-certificate-lifetime", "24h").With("tls-auto-authority-lifetime", "2400h")
	s.Start(t, s.server)
	filled := s.secret(t)
	if len(filled.Data["ca.crt"]) == 0 || len(filled.Data["ca.key"]) == 0 {
		t.Fatalf("keys of the Secret after the server is ready: got %v, want ca.crt and ca.key", slices.Sorted(maps.Keys(filled.Data)))
	}
	same := func(after string) {
		t.Helper()
		got := s.secret(t)
		if got.UID != filled.UID || !bytes.Equal(got.Data["ca.key"], filled.Data["ca.key"]) ||
			!bytes.HasSuffix(got.Data["ca.crt"], newest(filled)) {
			t.Fatalf("after %s: got Secret %s with %s, want %s with the authority of %s", after, got.UID, sizes(got), filled.UID, sizes(filled))
		}
	}
	s.apply(t)
	same("kubectl apply")
	s.apply(t, "--server-side", "--force-conflicts", "--field-manager=kubectl-sts-install")
	same("kubectl sts install, which applies on the server")
	s.kubectl(t, "apply", "--kustomize="+s.Path("registration"))
	same("kubectl apply of a whole installation")
	if out, err := exec.CommandContext(t.Context(), s.Path("kubectl"), "--kubeconfig", s.Path("kubeconfig"), "delete", "-f",
		manifest).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "kubectl sts uninstall") {
		t.Errorf("kubectl delete of the manifest: got %v, %s, want a refusal that names kubectl sts uninstall", err, out)
	}
	same("kubectl delete of the manifest")

	h := newHelm(t, s, "serving-authority.yaml")
	const before, after = "--set=change=before", "--set=change=after"
	for _, step := range [][]string{
		{"install", before}, // of a cluster whose Secret Helm has not created
		{"upgrade", after},
		{"upgrade", before, "--force-replace", "--server-side=false"},
		{"upgrade", before, "--set=tls.mode=helm"},
		{"upgrade", before, "--set=tls.mode=auto"},
		{"rollback"},
		{"uninstall"},
		{"install", after},
		{"uninstall"},
	} {
		h.run(t, step...)
		same("helm " + strings.Join(step, " "))
	}

	s.kubectl(t, "--namespace", system, "annotate", "secret", authorities, "apps.statefulset.dev/allow-delete=yes")
	s.kubectl(t, "--namespace", system, "delete", "secret", authorities)
	h.run(t, "install", before)
	if created := s.secret(t); created.UID == filled.UID {
		t.Errorf("the Secret that Helm has created: got UID %s, want another one", created.UID)
	}
	await(t, "the server fills the Secret that Helm has created", func() error {
		if got := s.secret(t); len(got.Data["ca.key"]) == 0 {
			return fmt.Errorf("got %s", sizes(got))
		}
		return nil
	})
	filled = s.secret(t)
	for _, step := range [][]string{{"upgrade", after}, {"upgrade", before, "--force-replace", "--server-side=false"}, {"rollback"},
		{"uninstall"}, {"install", before}, {"uninstall"}} {
		h.run(t, step...)
		same("helm " + strings.Join(step, " ") + ", of a Secret that Helm has created")
	}
}

// TestReplicasFillTheSecretOnce starts three servers at an empty Secret.
func TestReplicasFillTheSecretOnce(t *testing.T) {
	s := open(t)
	s.server.Args = s.server.Args.With("tls-auto-certificate-lifetime", "24h").With("tls-auto-authority-lifetime", "2400h")
	first, second, third := s.Launch(t, s.server), s.Launch(t, s.replica(t, "replica-1")), s.Launch(t, s.replica(t, "replica-2"))
	for i, p := range []*lab.Process{first, second, third} {
		if err := p.AwaitReady(t.Context()); err != nil {
			t.Fatalf("server %d: %v", i, err)
		}
	}
	if got := strings.Count(string(s.secret(t).Data["ca.key"]), "BEGIN"); got != 1 {
		t.Errorf("authorities that can sign: got %d, want 1", got)
	}
}

func (s *suite) secret(t *testing.T) *corev1.Secret {
	t.Helper()
	secret, err := s.host.CoreV1().Secrets(system).Get(t.Context(), authorities, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading the authorities: %v", err)
	}
	return secret
}

// newest is the last certificate of a Secret. Those before it are of earlier tests, and expire.
func newest(secret *corev1.Secret) []byte {
	all := secret.Data["ca.crt"]
	return all[max(0, bytes.LastIndex(all, []byte("-----BEGIN"))):]
}

// sizes tells what a Secret has without printing it.
func sizes(secret *corev1.Secret) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		all = append(all, fmt.Sprintf("%s of %d bytes", key, len(secret.Data[key])))
	}
	return "[" + strings.Join(all, ", ") + "]"
}
