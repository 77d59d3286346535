//go:build hosts

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hosts

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// What a host does not serve must be said where people look, and nowhere else.
func TestServesAndSaysWhatIsLeftOut(t *testing.T) {
	minor, whole := hostMinor(t)
	leftOut := minor < policiesSince

	const logged = "Not applying mutating admission policies to sets"
	if err := contains(serverLog(t), logged, leftOut); err != nil {
		t.Errorf("the server's log on %s: %v", whole, err)
	}
	// On a new cluster doctor finds things that are just starting, so its verdict is waited for.
	harness.Eventually(t, "doctor finds no failure", func(context.Context) error {
		text, err := plugin(t, "doctor")
		if err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		if err := contains(text, "ok    cluster: Kubernetes "+whole, true); err != nil {
			return err
		}
		return contains(text, "info  admission policies: mutating admission policies are not applied", leftOut)
	})
	text, err := plugin(t, "version")
	if err != nil {
		t.Fatalf("kubectl sts version: %v: %s", err, text)
	}
	for _, want := range []string{"cluster: Kubernetes " + whole, "server: statefulset-apiserver "} {
		if err := contains(text, want, true); err != nil {
			t.Errorf("kubectl sts version: %v", err)
		}
	}
	if err := contains(text, "Warning", false); err != nil {
		t.Errorf("kubectl sts version on a host that is tested: %v", err)
	}
}

func TestServesMutatingPoliciesWhereTheHostHasThem(t *testing.T) {
	minor, whole := hostMinor(t)
	if minor < policiesSince {
		ns := suite.Namespace(t, "hosts")
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Create(t.Context(), harness.NewSet("web", 1), metav1.CreateOptions{})
		if err != nil {
			t.Fatalf("creating a set on %s, which has no mutating policies: %v", whole, err)
		}
		waitReady(t, ns, set.Name)
		return
	}
	createPolicy(t)
	expectPolicyApplied(t)
}
