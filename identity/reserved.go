// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"

	"statefulset.dev/identity/render"
)

// IsReserved reports whether a key of labels or annotations has the prefix of our API group. The
// controller and the server read and write such keys. Users set a few of them on sets, such as
// v1.HoldAnnotation and v1.ProtectAnnotation, and on objects of the installation. Nobody writes one into
// a pod template, a claim template or an override: there is no exception, because every key that the
// controller reads from pods and claims is a record of its own.
//
// The server refuses these keys in templates. Sets that were stored with one keep it, and the controller
// puts no annotation of a template with such a key on a pod or a claim. It reads no label of the group
// from pods and claims, and Services or backups may select by one, so labels are put on them as written.
func IsReserved(key string) bool { return render.IsReserved(key) }

// withoutReserved are annotations of a template without those whose keys are reserved; the same map if
// it has none.
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
