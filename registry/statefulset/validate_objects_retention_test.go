// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestObjectRetention(t *testing.T) {
	const remove, retain = v1.DeleteObjectRetentionPolicyType, v1.RetainObjectRetentionPolicyType
	for sentence, test := range map[string]struct {
		retention v1.ObjectRetention
		ofSet     bool
		want      []string
	}{
		"that says nothing is accepted":          {},
		"that keeps all is accepted":             {retention: v1.ObjectRetention{WhenScaled: retain, WhenDeleted: retain}},
		"that deletes with the set is accepted":  {retention: v1.ObjectRetention{WhenDeleted: remove}},
		"that deletes the set's own is accepted": {ofSet: true, retention: v1.ObjectRetention{WhenDeleted: remove}},
		"with a delay is accepted":               {retention: v1.ObjectRetention{WhenScaled: remove, ScaledAfterSeconds: new(int32(1))}},
		"that keeps all, of the set":             {ofSet: true, retention: v1.ObjectRetention{WhenScaled: retain, WhenDeleted: retain}},
		"with no time at all": {retention: v1.ObjectRetention{WhenScaled: remove, ScaledAfterSeconds: new(int32(0))},
			want: []string{"spec.objectTemplates[0].retention.scaledAfterSeconds: Invalid value: 0: must be at least 1"}},
		"with a delay, and nothing deleted": {retention: v1.ObjectRetention{ScaledAfterSeconds: new(int32(60))},
			want: []string{`spec.objectTemplates[0].retention.scaledAfterSeconds: Forbidden: only allowed with whenScaled "Delete"`}},
		"with a word that there is not": {retention: v1.ObjectRetention{WhenScaled: "Orphan"},
			want: []string{`spec.objectTemplates[0].retention.whenScaled: Unsupported value: "Orphan": supported values: "Delete", "Retain"`}},
		"with a word that there is not, for the end": {retention: v1.ObjectRetention{WhenDeleted: "Orphan"},
			want: []string{`spec.objectTemplates[0].retention.whenDeleted: Unsupported value: "Orphan": supported values: "Delete", "Retain"`}},
		"that deletes the set's own with its template": {
			ofSet: true, retention: v1.ObjectRetention{WhenScaled: remove, ScaledAfterSeconds: new(int32(60))}},
	} {
		t.Run(sentence, func(t *testing.T) {
			template := objectTemplate("peers", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(IDENTITY)-x"},"spec":{}}`)
			if test.ofSet {
				template = forSet(objectTemplate("peers", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"$(SET)-x"},"spec":{}}`))
			}
			template.Retention = &test.retention
			set := settest.Changed(settest.Spec(func(s *v1.StatefulSetSpec) { s.ObjectTemplates = []v1.ObjectTemplate{template} }))
			verdict{want: test.want}.check(t, onUpdate(t, set))
			verdict{want: test.want}.check(t, onCreate(t, set))
		})
	}
}
