// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
)

// A cache that stands still, and a webhook that answers with conflicts, look like a set that
// is merely slow.
func TestAHostThatGoesOnSayingThatAnObjectHasChangedIsTold(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	cases := map[string]struct {
		answer error
		want   string
	}{
		"a conflict": {apierrors.NewConflict(pods, "web-0", errors.New("try later")),
			`could not create pod web-0 at web-74cf795979: creating pod "web-0": Operation cannot be fulfilled on pods "web-0": try later`},
		"a pod that the cache never shows": {apierrors.NewAlreadyExists(pods, "web-0"),
			`could not create pod web-0 at web-74cf795979: creating pod "web-0": pods "web-0" already exists`},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			set := newSet("web")
			key := cache.MetaObjectToName(set)
			term, host := newTestTerm(t, set)
			refuse(host, "create", "web-0", test.answer)
			ready := func() v1.StatefulSetCondition {
				t.Helper()
				term.states.getOrCreate(key).ownWrites = ownWrites{} // the caches do not run
				term.syncAndRequeue(t.Context(), nil, key)
				after, err := term.config.Sets.AppsV1().StatefulSets(set.Namespace).Get(t.Context(), set.Name, metav1.GetOptions{})
				if err != nil {
					t.Fatalf("getting set: %v", err)
				}
				holding(t, term, after)
				return conditionOf(after, v1.StatefulSetReady)
			}
			for look := range staleSyncsBeforeReport {
				if got := ready(); got.Reason != "CreatingMembers" {
					t.Fatalf("look %d: got condition %v, want members that are being created", look, got)
				}
			}
			if got := ready(); got.Reason != "HostUnavailable" || got.Message != test.want {
				t.Errorf("got condition %s: %s, want HostUnavailable: %s", got.Reason, got.Message, test.want)
			}
		})
	}
}
