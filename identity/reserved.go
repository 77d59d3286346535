// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"

	"statefulset.dev/identity/render"
)

// IsReserved reports whether a key of labels or annotations has the prefix of our API group. The
// controller and the server read and write such keys. Users set a few of them on sets, such as
// v1.HoldAnnotation and v1.ProtectAnnotation, and on objects of the installation. Users must not
// set one in a pod template, a claim template or an override. There is no exception, because every
// key that the controller reads from pods and claims is its own record.
//
// The server rejects these keys in templates. A stored set that has one keeps it, and the
// controller does not copy an annotation with such a key from a template to a pod or a claim. It
// reads no label of the group from pods and claims, and Services or backups may select by one, so
// labels are copied unchanged.
func IsReserved(key string) bool { return render.IsReserved(key) }

// withoutReserved returns annotations of a template without reserved keys. It returns the same map
// if there are none.
func withoutReserved(annotations map[string]string) map[string]string {
	for key := range annotations {
		if IsReserved(key) {
			plain := maps.Clone(annotations)
			maps.DeleteFunc(plain, func(key, _ string) bool { return IsReserved(key) })
			return plain
		}
	}
	return annotations
}
