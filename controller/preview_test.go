// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/forecast"
	"statefulset.dev/identity"
)

func TestAPreviewSeesWhatTheControllerSees(t *testing.T) {
	set := newSet("web", "www")
	term, host := newTestTerm(t, set, newPod(set, 0), newPod(newSet("other"), 0), identity.Claims(set, 0)[0], newRevision(set, "web-1"))
	world, err := term.observe(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	want := forecast.Now(world)
	preview := newPreview(host)
	got, err := preview.Current(t.Context(), set, []v1.StatefulSet{*set})
	if err != nil || len(got.Rounds) != 1 || len(got.Rounds[0].Steps) != len(want.Rounds[0].Steps) || got.Message != want.Message ||
		got.Status.Replicas != 1 {
		t.Errorf("got %+v and error %v, want %+v", got, err, want)
	}
	if writes := writesTo(host); len(writes) > 0 {
		t.Errorf("got writes %v, want none", writes)
	}
}

func TestAPreviewWithoutAHostAsksToTryAgain(t *testing.T) {
	set := newSet("web")
	host := fake.NewClientset()
	refuse(host, "list", "", errors.New("connection refused"))
	_, err := newPreview(host).Proposed(t.Context(), set, nil)
	if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsServiceUnavailable(err) || !ok || seconds != retryAfter {
		t.Errorf("got error %v and a delay of %d s, want that the service is unavailable, and %d s", err, seconds, retryAfter)
	}
}

func TestAPreviewNamesNobodyElse(t *testing.T) {
	set := newSet("web", "www")
	set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: v1.DeletePersistentVolumeClaimRetentionPolicyType, WhenScaled: v1.RetainPersistentVolumeClaimRetentionPolicyType}
	secret := metav1.OwnerReference{
		APIVersion: "secret.example/v1", Kind: "SecretKind", Name: "secret-name", UID: "secret-uid", Controller: new(true)}
	taken := newPod(set, 0)
	taken.OwnerReferences = []metav1.OwnerReference{secret}
	shared := identity.Claims(set, 1)[0]
	secret.Controller = nil
	shared.OwnerReferences = []metav1.OwnerReference{secret}
	set.Spec.PodManagementPolicy = v1.ParallelPodManagement
	host := fake.NewClientset(taken, shared, newPod(set, 1), newRevision(set, "web-1"))
	for name, ask := range map[string]func(context.Context, *v1.StatefulSet, []v1.StatefulSet) (*v1.StatefulSetPlan, error){
		"GET": newPreview(host).Current, "POST": newPreview(host).Proposed,
	} {
		got, err := ask(t.Context(), set, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%+v", got)
		if strings.Contains(strings.ToLower(text), "secret") {
			t.Errorf("%s: got the name of an owner that is not the set's in %s", name, text)
		}
		for _, want := range []string{
			"it is controlled by an unnamed object", "set owners of claim www-web-1 to [unnamed/object StatefulSet/web]"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: got %s, want it to say %q", name, text, want)
			}
		}
	}
}
