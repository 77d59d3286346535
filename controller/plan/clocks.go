// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// retirement is since when an object is not needed, according to its annotation.
type retirement struct {
	// since is when the delay begins, zero if the annotation has no date. It is never before the
	// host cluster wrote the annotation, by the cluster's clock: the controller that chose the date
	// may have had a wrong clock.
	since time.Time
	// proven is true if the cluster records when it wrote the annotation. Without that record a
	// date proves nothing, and the object stays.
	proven bool
}

// unproven says why an object stays whose annotation proves nothing.
const unproven = "its managedFields do not say when " + v1.RetiredAtAnnotation + " was set; delete it by hand if it is not needed"

// retirementOf reads the retired-at annotation of an object.
func retirementOf(object metav1.Object) retirement {
	since, err := time.Parse(time.RFC3339, object.GetAnnotations()[v1.RetiredAtAnnotation])
	if err != nil {
		return retirement{}
	}
	written, proven := retiredWrite(object.GetManagedFields())
	return retirement{slices.MaxFunc([]time.Time{since, written, object.GetCreationTimestamp().Time}, time.Time.Compare).UTC(), proven}
}

// retiredWrite is when the API server of the host cluster last wrote the retired-at annotation for
// one of its managers, and false if that is not recorded. The server sets the time of a manager's
// entry whenever the manager changes a field, so the time may be later than the write of the
// annotation, but is never earlier.
func retiredWrite(entries []metav1.ManagedFieldsEntry) (at time.Time, found bool) {
	for _, entry := range entries {
		if entry.Time != nil && entry.Subresource == "" && managesRetired(entry) && !entry.Time.Time.Before(at) {
			at, found = entry.Time.Time, true
		}
	}
	return at, found
}

func managesRetired(entry metav1.ManagedFieldsEntry) bool {
	if entry.FieldsV1 == nil {
		return false
	}
	var fields struct {
		Metadata struct {
			Annotations map[string]json.RawMessage `json:"f:annotations"`
		} `json:"f:metadata"`
	}
	if err := json.NewDecoder(entry.FieldsV1.GetRawReader()).Decode(&fields); err != nil {
		return false
	}
	_, manages := fields.Metadata.Annotations["f:"+v1.RetiredAtAnnotation]
	return manages
}

// TrimManagedFields is the part of the managed fields of an object that caches keep: when its
// retired-at annotation was written. It is nil for an object without that annotation.
func TrimManagedFields(object metav1.Object) []metav1.ManagedFieldsEntry {
	if _, retired := object.GetAnnotations()[v1.RetiredAtAnnotation]; !retired {
		return nil
	}
	at, found := retiredWrite(object.GetManagedFields())
	if !found {
		return nil
	}
	return retiredFields(at)
}

// retiredFields are the managed fields of an object whose retired-at annotation was written at a
// time.
func retiredFields(at time.Time) []metav1.ManagedFieldsEntry {
	return []metav1.ManagedFieldsEntry{{
		Operation: metav1.ManagedFieldsOperationUpdate, Time: &metav1.Time{Time: at},
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + v1.RetiredAtAnnotation + `":{}}}}`),
	}}
}
