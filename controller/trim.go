// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// trimMeta is what the caches keep of the metadata of any kind of object.
func trimMeta(meta *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:              meta.Name,
		Namespace:         meta.Namespace,
		UID:               meta.UID,
		ResourceVersion:   meta.ResourceVersion,
		CreationTimestamp: meta.CreationTimestamp,
		DeletionTimestamp: meta.DeletionTimestamp,
		Labels:            meta.Labels,
		OwnerReferences:   meta.OwnerReferences,
	}
}

func metaChanged(before, after metav1.ObjectMeta) bool {
	before.ResourceVersion = after.ResourceVersion
	return !equality.Semantic.DeepEqual(before, after)
}
