//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAuthoritiesThatCannotBeUsedAreNotReplaced until somebody says so.
func TestAuthoritiesThatCannotBeUsedAreNotReplaced(t *testing.T) {
	s := open(t)
	secrets := s.host.CoreV1().Secrets(system)
	_, err := secrets.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: authorities}, Data: map[string][]byte{"ca.crt": []byte("nothing"), "ca.key": nil},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("spoiling the authorities: %v", err)
	}
	p := s.Launch(t, s.server)
	const remedy = "kubectl --namespace statefulset-system delete secret statefulset-apiserver-ca"
	await(t, "the server is not ready and says "+remedy, func() error {
		err := s.check(t.Context(), s.server, "/readyz/certificate")
		if err == nil {
			return errors.New("it is ready")
		}
		if !strings.Contains(err.Error(), remedy) {
			return err
		}
		return nil
	})
	if err := secrets.Delete(t.Context(), authorities, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("doing what the server says: %v", err)
	}
	if err := p.AwaitReady(t.Context()); err != nil {
		t.Errorf("after the remedy: %v", err)
	}
}

func await(t *testing.T, what string, condition func() error) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(poll) {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waiting until %s: %v", what, err)
		}
	}
}
