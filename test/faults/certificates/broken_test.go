//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestAuthoritiesThatCannotBeUsedAreNotReplaced until somebody says so.
func TestAuthoritiesThatCannotBeUsedAreNotReplaced(t *testing.T) {
	s := open(t)
	s.fill(t, map[string][]byte{"ca.crt": []byte("nothing"), "ca.key": nil})
	p := s.Launch(t, s.server)
	s.awaitUnready(t,
		`kubectl --namespace statefulset-system patch secret statefulset-apiserver-ca --type=json --patch='[{"op":"remove","path":"/data"}]'`)
	s.kubectl(t, "--namespace", system, "patch", "secret", authorities, "--type=json", `--patch=[{"op":"remove","path":"/data"}]`)
	if err := p.AwaitReady(t.Context()); err != nil {
		t.Errorf("after the remedy: %v", err)
	}
}

// TestAMissingSecretIsNotCreated by the server, which says how to create it.
func TestAMissingSecretIsNotCreated(t *testing.T) {
	s := open(t)
	s.kubectl(t, "--namespace", system, "annotate", "secret", authorities, "apps.statefulset.dev/allow-delete=yes")
	s.kubectl(t, "--namespace", system, "delete", "secret", authorities)
	p := s.Launch(t, s.server)
	s.awaitUnready(t, "kubectl --namespace statefulset-system create secret generic statefulset-apiserver-ca")
	s.kubectl(t, "--namespace", system, "create", "secret", "generic", authorities)
	if err := p.AwaitReady(t.Context()); err != nil {
		t.Errorf("after the remedy: %v", err)
	}
}

// awaitUnready waits until the server is not ready because of its certificate, and says what to do.
func (s *suite) awaitUnready(t *testing.T, remedy string) {
	t.Helper()
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
