// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// TestWritesOfASetWithGeneratedSecrets counts that what claims and pods say takes no write of its own.
func TestWritesOfASetWithGeneratedSecrets(t *testing.T) {
	h := newHost(t, Compute)
	h.configure([]string{"replicas=3", "policy=Parallel", "claims=www", "objects=auth,sst"})
	var done []action.Action
	for range 10 {
		_, now, _ := h.look()
		done = append(done, now...)
		for name, pod := range h.pods {
			if pod.Status.Phase == corev1.PodPending {
				h.ready(name, corev1.ConditionTrue)
			}
		}
	}
	writes := 0
	for _, act := range done {
		writes++
		if create, is := act.(action.CreateMember); is {
			writes += len(create.Claims)
		}
	}
	// A revision, the Secret of the set, and of each member a Secret, a claim and a pod.
	if want := 2 + 3*3; writes != want {
		t.Errorf("the set takes %d writes, want %d: %v", writes, want, done)
	}
}

func TestAClaimNamesABoundedNumberOfSecrets(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{}
	for i := range 70 {
		claim = identity.ClaimUsingSecrets(claim, []string{fmt.Sprintf("s-%d", i), "always"})
	}
	got := identity.GeneratedOf(claim)
	if len(got) != 64 || got[0] != "s-7" || !slices.Contains(got, "always") || !slices.Contains(got, "s-69") {
		t.Errorf("the claim names %d Secrets: %v, want the latest 64", len(got), got)
	}
	if again := identity.GeneratedText(claim, nil); again != strings.Join(got, ",") {
		t.Errorf("given nothing, it names %s, want what it has named: %v", again, got)
	}
}

func TestSecretsThatAreGoneAreToBeLookedFor(t *testing.T) {
	h := newHost(t, Compute)
	h.configure([]string{"replicas=1", "claims=www", "objects=sst"})
	for range 5 {
		h.look()
	}
	h.dropObject("Secret/web-sst")
	p, _, _ := h.look()
	if want := []identity.ObjectKey{{Kind: "Secret", Name: "web-sst"}}; !slices.Equal(p.Lost, want) {
		t.Errorf("the plan has %v looked for, want %v", p.Lost, want)
	}
	if reason := p.Status.Condition(v1.StatefulSetStalled); reason.Reason != v1.ReasonGeneratedSecretMissing {
		t.Errorf("the set says %v, want GeneratedSecretMissing", p.Status.Conditions)
	}
}
