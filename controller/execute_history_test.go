// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// TestHistoryIsKeptShort looks at what becomes of a revision that nobody runs when a
// step of the same plan is not carried out.
func TestHistoryIsKeptShort(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for sentence, test := range map[string]struct {
		answer error
		kept   bool
	}{
		"it goes although a member is refused":       {apierrors.NewForbidden(pods, "web-0", errors.New("exceeded quota")), false},
		"it goes although the host is in trouble":    {apierrors.NewInternalError(errors.New("etcd is down")), false},
		"it stays if a pod is there that was unseen": {apierrors.NewAlreadyExists(pods, "web-0"), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := newSet("web")
			old := newRevision(set, "web-1")
			term, host := newTestTerm(t, set, old)
			refuse(host, "create", "web-0", test.answer)
			member := action.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "web-2", 0)}
			term.execute(t.Context(), nil, set,
				plan.Plan{Chains: []action.Chain{{member}}, Finally: []action.Chain{{action.DeleteRevision{Revision: targetOf(old)}}}})
			_, err := host.AppsV1().ControllerRevisions("shop").Get(t.Context(), old.Name, metav1.GetOptions{})
			if kept := err == nil; kept != test.kept {
				t.Errorf("the revision is kept: got %t (%v), want %t", kept, err, test.kept)
			}
		})
	}
}
