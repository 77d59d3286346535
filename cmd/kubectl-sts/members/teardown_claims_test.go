// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

func TestWhatBecomesOfClaims(t *testing.T) {
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "web-uid"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	claim := func(name string, owners ...metav1.OwnerReference) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners}}
	}
	going := claim("data-web-3")
	going.DeletionTimestamp = new(metav1.Now())
	// The set has the members 0 and 1, had 4 and 5, and that somebody else controls a claim is rare.
	claims := []metav1.PartialObjectMetadata{
		claim("data-web-0"),
		claim("data-web-1", metav1.OwnerReference{Kind: "Operator", Name: "o", UID: "o", Controller: new(true)}),
		going,
		claim("data-web-4"),
		claim("data-web-5", *metav1.NewControllerRef(set, v1.GroupVersionKind())),
		claim("data-db-0"), claim("other-web-0"), claim("data"),
	}
	const (
		foreign, earlier = "data-web-1", "data-web-4"
		members          = "claims that are deleted with their members, because whenScaled is Delete: "
		whole            = "claims that are deleted with the set: "
		kept             = "claims that stay: "
	)
	for sentence, test := range map[string]struct {
		scaled, deleted v1.PersistentVolumeClaimRetentionPolicyType
		want            []string
	}{
		"no policy":           {"", "", []string{whole + "data-web-5", kept + "data-web-0, " + foreign + ", " + earlier}},
		"both are kept":       {"Retain", "Retain", []string{whole + "data-web-5", kept + "data-web-0, " + foreign + ", " + earlier}},
		"whenScaled deletes":  {"Delete", "Retain", []string{members + "data-web-0", whole + "data-web-5", kept + foreign + ", " + earlier}},
		"whenDeleted deletes": {"Retain", "Delete", []string{whole + "data-web-0, data-web-5", kept + foreign + ", " + earlier}},
		"both delete":         {"Delete", "Delete", []string{members + "data-web-0", whole + "data-web-5", kept + foreign + ", " + earlier}},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := set.DeepCopy()
			if test.scaled != "" {
				set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
					WhenScaled: test.scaled, WhenDeleted: test.deleted}
			}
			if got := claimOutcomesOf(set, []string{"web-1", "web-0"}, claims).texts(); !slices.Equal(got, test.want) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
}
