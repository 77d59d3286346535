// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/identity"
)

func TestTheViewShowsClaimsOfRemovedTemplatesThatTheSetOwns(t *testing.T) {
	set := newSet("web")
	pod := newPod(set, 0)
	owned := func(name string, owner metav1.OwnerReference) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{owner},
		}}
	}
	ofPod := *metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))
	ofEarlier := identity.Owner(set)
	ofEarlier.UID = "earlier"
	v := filled(t, set, pod, owned("logs-web-0", identity.Owner(set)), owned("logs-web-1", ofEarlier), owned("tmp-web-0", ofPod))
	got := map[string]bool{}
	for _, claim := range v.world(set, time.Unix(0, 0)).Claims {
		got[claim.Name] = true
	}
	for name, want := range map[string]bool{"logs-web-0": true, "tmp-web-0": true, "logs-web-1": false} {
		if got[name] != want {
			t.Errorf("claim %s: got %t, want %t", name, got[name], want)
		}
	}
	kept, whole := trimClaim(v, owned("logs-web-0", identity.Owner(set))).(*corev1.PersistentVolumeClaim)
	if !whole || len(setsOfClaim(v, kept)) != 1 {
		t.Errorf("the claim of a removed template that the set owns does not concern the set: %+v", kept)
	}
}
