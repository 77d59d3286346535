// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// knowing is a claim of a template that its set has no more, whose data was written with a generated Secret.
func knowing(name, secret string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "claim", ResourceVersion: "7",
		Annotations: map[string]string{v1.GeneratedAnnotation: secret}}}
}

// TestAClaimOfARemovedTemplateKeepsItsSecret: its data is there still, and no other Secret reads it. The set,
// which had the templates "data" and "my-data", has none now.
func TestAClaimOfARemovedTemplateKeepsItsSecret(t *testing.T) {
	cases := map[string]struct {
		claim *corev1.PersistentVolumeClaim
		knows bool
	}{
		"a claim of a removed template":               {knowing("data-web-1", "web-1-auth"), true},
		"a claim of a template with a dash":           {knowing("my-data-web-1", "web-1-auth"), true},
		"a claim that records no Secret":              {knowing("data-web-1", ""), false},
		"a claim of another set":                      {knowing("data-db-1", "web-1-auth"), false},
		"a claim that is named as no member's is":     {knowing("data-web", "web-1-auth"), false},
		"a claim in the form of a pod without a base": {knowing("web-1", "web-1-auth"), false},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			set := newSet("web")
			set.Spec.ObjectTemplates = []v1.ObjectTemplate{
				{Name: "auth", Object: runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"$(IDENTITY)-auth"}}`)},
					Generate: []v1.GeneratedKey{{Key: "password", Bytes: 24}}}}
			term, _ := newTestTerm(t, set)
			if err := term.view.put(claimsResource, trimClaim(term.view, test.claim)); err != nil {
				t.Fatal(err)
			}
			world := term.view.world(set, term.config.Clock.Now())
			if knows := len(world.ClaimsWithSecrets) == 1; knows != test.knows {
				t.Errorf("got claims %v that know a Secret, want one: %t", world.ClaimsWithSecrets, test.knows)
			}
			if wakes := len(setsOfClaim(term.view, test.claim)) == 1; wakes != test.knows {
				t.Errorf("the set is woken when the claim changes: got %t, want %t", wakes, test.knows)
			}
			asked := (&execution{term: term, set: set}).claimSelectors(1)
			if reads := len(asked) == 1; reads != test.knows {
				t.Errorf("got %v read before a Secret is generated, want the claim: %t", asked, test.knows)
			}
		})
	}
}

// TestASetThatReturnsAClaimTemplateSeesItsClaims: a claim that records Secrets is no stub, so nothing has to be read.
func TestASetThatReturnsAClaimTemplateSeesItsClaims(t *testing.T) {
	set := newSet("web", "data")
	term, _ := newTestTerm(t, set)
	if err := term.view.put(claimsResource, trimClaim(filled(t), knowing(identity.ClaimName("data", "web", 1), "web-1-auth"))); err != nil {
		t.Fatal(err)
	}
	world, err := term.observe(t.Context(), set)
	if err != nil || len(world.Claims) != 1 {
		t.Errorf("got claims %v and error %v, want the claim of member 1", world.Claims, err)
	}
}
