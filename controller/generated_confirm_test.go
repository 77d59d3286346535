// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

func TestClaimsAreReadAgainBeforeASecretIsDrawn(t *testing.T) {
	broken := apierrors.NewInternalError(errors.New("the store is away"))
	for sentence, test := range map[string]struct {
		failures     int
		failure      error
		reads, drawn int
	}{
		"the host fails twice":   {2, broken, 3, 1},
		"it is not reached once": {1, errors.New("connection refused"), 2, 1},
		"it is unavailable once": {1, apierrors.NewServiceUnavailable("not yet"), 2, 1},
		"it fails for longer":    {9, broken, 4, 0},
		"it has no time":         {1, apierrors.NewTooManyRequests("later", 1), 1, 0},
		"the controller may not read them": {
			1, apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "", errors.New("no")), 1, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host, set, create := newVaultTerm(t)
			reads := 0
			cluster := term.config.Host.(*fake.Clientset)
			cluster.PrependReactor("list", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
				if reads++; reads > test.failures {
					return false, nil, nil
				}
				return true, nil, test.failure
			})
			term.execute(t.Context(), nil, set, plan.Plan{Finally: []action.Chain{{create}}})
			if reads != test.reads || len(host.posts) != test.drawn {
				t.Errorf("claims were read %d times, and %d Secrets drawn, want %d and %d", reads, len(host.posts), test.reads, test.drawn)
			}
		})
	}
}
