// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

func TestAPodThatCannotBeWatchedIsReadFromTheHost(t *testing.T) {
	set := newSet("web")
	unlabelled := newPod(set, 0)
	unlabelled.Labels = map[string]string{"app": "web"}
	term, host := newTestTerm(t, set)
	if err := host.Tracker().Add(unlabelled); err != nil {
		t.Fatal(err)
	}
	key := cache.MetaObjectToName(set)

	term.execute(t.Context(), nil, set, []plan.Step{{plan.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "rev", 0)}}})
	world, err := term.observe(t.Context(), set)
	if err != nil || len(world.Pods) != 1 || world.Pods[0].Name != "web-0" {
		t.Fatalf("got pods %v and error %v, want the pod that was in the way", world.Pods, err)
	}
	if got := term.hidden.nextLook(key); got != hiddenPodsInterval {
		t.Errorf("got next look %s, want %s", got, hiddenPodsInterval)
	}

	if err := host.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("pods"), "shop", "web-0"); err != nil {
		t.Fatal(err)
	}
	world, err = term.observe(t.Context(), set)
	if err != nil || len(world.Pods) != 0 || term.hidden.nextLook(key) != 0 {
		t.Errorf("got pods %v, next look %s and error %v; want none", world.Pods, term.hidden.nextLook(key), err)
	}
}
