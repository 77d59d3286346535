// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestClaimsThatAreDeletedAfterADelay(t *testing.T) {
	const (
		path   = "spec.persistentVolumeClaimRetentionPolicy.scaledAfterSeconds: "
		retain = v1.RetainPersistentVolumeClaimRetentionPolicyType
		remove = v1.DeletePersistentVolumeClaimRetentionPolicyType
	)
	for sentence, test := range map[string]struct {
		scaled  v1.PersistentVolumeClaimRetentionPolicyType
		seconds int32
		want    []string
	}{
		"of a day are accepted":        {scaled: remove, seconds: 86400},
		"of a second are accepted":     {scaled: remove, seconds: 1},
		"that are none":                {scaled: remove, want: []string{path + "Invalid value: 0: must be at least 1"}},
		"before the scale-down":        {scaled: remove, seconds: -5, want: []string{path + "Invalid value: -5: must be at least 1"}},
		"and that are retained anyway": {scaled: retain, seconds: 60, want: []string{path + `Forbidden: only allowed with whenScaled "Delete"`}},
	} {
		t.Run(sentence, func(t *testing.T) {
			change := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) {
				s.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
					WhenDeleted: retain, WhenScaled: test.scaled, ScaledAfterSeconds: &test.seconds}
			}))
			verdict{want: test.want}.check(t, onUpdate(t, change))
			verdict{want: test.want}.check(t, onCreate(t, change))
		})
	}
}
