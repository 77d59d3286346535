// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostread

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// TrimMeta returns what the caches keep of the metadata of any kind of object.
func TrimMeta(meta *metav1.ObjectMeta) metav1.ObjectMeta {
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

// MetaChanged reports whether trimmed metadata differ in more than the resource version.
func MetaChanged(before, after metav1.ObjectMeta) bool {
	before.ResourceVersion = after.ResourceVersion
	return !equality.Semantic.DeepEqual(before, after)
}

// IndexBy is an index of the objects of one type. It has no values for other objects.
func IndexBy[T any](values func(T) []string) cache.IndexFunc {
	return func(object any) ([]string, error) {
		if typed, ok := object.(T); ok {
			return values(typed), nil
		}
		return nil, nil
	}
}

// IndexKey is a name in the namespace of an object, in the form of the indexes:
// "<namespace>/<name>".
func IndexKey(object metav1.Object, name string) string { return object.GetNamespace() + "/" + name }

// SelectLabel makes an informer select objects that have a label.
func SelectLabel(label string) func(*metav1.ListOptions) {
	return func(options *metav1.ListOptions) {
		RequireQuorumList(options)
		options.LabelSelector = label
	}
}

// RequireQuorumList makes an informer that cannot stream its first list fall back to a list that is
// read from a quorum. The usual fallback returns the contents of a server's cache, which may be
// older than what this controller knew before it restarted.
func RequireQuorumList(options *metav1.ListOptions) {
	if options.ResourceVersion == "0" {
		options.ResourceVersion = ""
	}
}

// LastState is the last known state of a deleted object, also if its deletion was missed.
func LastState(object any) any {
	if unseen, ok := object.(cache.DeletedFinalStateUnknown); ok {
		return unseen.Obj
	}
	return object
}

// HasReached reports whether a cache at version a shows what was written at b. Versions that are
// not numbers can only be compared for equality.
func HasReached(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	if err != nil {
		return a == b
	}
	return order >= 0
}
