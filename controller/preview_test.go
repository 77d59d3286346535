// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

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
	preview := &Preview{host, clock.RealClock{}}
	got, err := preview.Current(t.Context(), set, []v1.StatefulSet{*set})
	if err != nil || len(got.Rounds) != 1 || len(got.Rounds[0].Steps) != len(want.Rounds[0].Steps) || got.Message != want.Message || got.Status.Replicas != 1 {
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
	_, err := (&Preview{host, clock.RealClock{}}).Proposed(t.Context(), set, nil)
	if seconds, ok := apierrors.SuggestsClientDelay(err); !apierrors.IsServiceUnavailable(err) || !ok || seconds != retryAfter {
		t.Errorf("got error %v and a delay of %d s, want that the service is unavailable, and %d s", err, seconds, retryAfter)
	}
}
