// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

func TestWhoHasChangedAnObject(t *testing.T) {
	ours := func(inputs, fields string, others ...metav1.ManagedFieldsEntry) *metav1.PartialObjectMetadata {
		applied := entry(metav1.ManagedFieldsOperationApply, fields)
		applied.Manager = objectManager
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "conf", ResourceVersion: "2", Annotations: map[string]string{v1.ObjectInputsAnnotation: inputs},
			ManagedFields: append(others, applied)}}
	}
	mine := entry(metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:b":{}}}`)
	mine.Manager = "kubectl"
	for sentence, test := range map[string]struct {
		live    *metav1.PartialObjectMetadata
		drifted bool
	}{
		"nobody has": {ours("one", `{"f:data":{".":{},"f:a":{}}}`), false},
		"another controller applies what was created":    {ours("one", `{"f:data":{"f:a":{}}}`), false},
		"somebody has taken a field":                     {ours("one", `{"f:data":{}}`, mine), true},
		"another controller has made it of other inputs": {ours("two", `{"f:metadata":{"f:ownerReferences":{}}}`), false},
		"another controller has, and then somebody, too": {ours("two", `{"f:data":{}}`, mine), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			known := &memo{}
			created := ours("one", `{"f:data":{".":{},"f:a":{}}}`)
			created.ManagedFields[0].Operation = metav1.ManagedFieldsOperationUpdate
			known.wroteObject(schema.GroupKind{Kind: "ConfigMap"}, created, writtenObject{})
			var shown plan.Object
			known.judgeObject(track(test.live).(*tracked), &shown)
			if shown.Drifted != test.drifted {
				t.Errorf("changed by somebody: got %t (%s), want %t", shown.Drifted, shown.DriftedBy, test.drifted)
			}
		})
	}
}
