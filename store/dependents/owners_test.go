// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dependents

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

func TestClaimsAndRevisionsAreMembers(t *testing.T) {
	controls := true
	ref := metav1.OwnerReference{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind, Name: "web", UID: "u"}
	controlling := ref
	controlling.Controller = &controls
	for name, test := range map[string]struct {
		resource, object string
		ref              metav1.OwnerReference
		want             bool
	}{
		"a claim of a member":                  {Claims, "data-web-0", ref, true},
		"a claim of another name":              {Claims, "data-db-0", ref, false},
		"a revision that the set controls":     {Revisions, "web-abc", controlling, true},
		"a revision that it does not control":  {Revisions, "web-abc", ref, false},
		"a claim whose name has no ordinal":    {Claims, "data-web", ref, false},
		"a claim of a set with a longer name":  {Claims, "data-web-2-0", ref, false},
		"a claim of a template with a dash":    {Claims, "data-old-web-0", ref, true},
		"a pod that has no label of a member":  {Pods, "web-0", controlling, false},
		"a claim of a member with ordinal 100": {Claims, "data-web-100", ref, true},
	} {
		object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: test.object}}
		if got := isMember(test.resource, object, test.ref); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}

// While nothing is written, the host is hardly asked.
