// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	v1 "statefulset.dev/api/apps/v1"
)

func TestEveryKindSurvivesEveryEncoding(t *testing.T) {
	// Decoding fills in defaults, so only a set that has them comes back unchanged.
	defaulted := func(serializer.CodecFactory) []any {
		return []any{func(set *v1.StatefulSet, c randfill.Continue) {
			c.FillNoCustom(set)
			v1.SetObjectDefaults_StatefulSet(set)
		}}
	}
	roundtrip.RoundTripProtobufTestForScheme(t, New(), defaulted)
}

func TestTheVersionThatUsersKnowIsTheFirstName(t *testing.T) {
	kinds, _, err := New().ObjectKinds(&v1.StatefulSet{})
	if want := v1.GroupVersionKind(); err != nil || len(kinds) != 2 || kinds[0] != want {
		t.Errorf("kinds of a set: got %v, %v, want %s first and the hub second", kinds, err, want)
	}
}

func TestTheHubIsNotPublished(t *testing.T) {
	scheme := NewNaming()
	for _, group := range scheme.PreferredVersionAllGroups() {
		if hub := (schema.GroupVersion{Group: group.Group, Version: "__internal"}); scheme.IsVersionRegistered(hub) {
			t.Errorf("the naming scheme has %s, want no hub version", hub)
		}
	}
}
