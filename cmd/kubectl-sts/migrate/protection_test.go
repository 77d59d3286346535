// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"slices"
	"testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned/fake"
)

func TestDiscardingEndsTheProtectionFirst(t *testing.T) {
	for sentence, test := range map[string]struct {
		change []func(*v1.StatefulSet)
		want   []string
	}{
		"a set that is not protected": {nil, []string{"delete"}},
		"a protected set":             {[]func(*v1.StatefulSet){protectedOurs}, []string{"patch", "delete"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := ourSet(arrivingFrom(theirUID), test.change...)
			sets := fake.NewSimpleClientset(set)
			if err := (cluster{sets: sets}).discard(t.Context(), set); err != nil {
				t.Fatalf("discarding the set: %v", err)
			}
			var got []string
			for _, action := range sets.Actions() {
				got = append(got, action.GetVerb())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got requests %q, want %q", got, test.want)
			}
		})
	}
}
