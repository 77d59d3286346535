//go:build validation

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// unseeded are the types and fields that no seed has, and why.
func unseeded() map[string]string {
	const written, off = "refused with every seed; create.yaml has it",
		"belongs to a feature that Kubernetes 1.37 has off; create.yaml has those"
	return map[string]string{
		"PodSpec.activeDeadlineSeconds":       written,
		"PodSpec.ephemeralContainers":         written,
		"EphemeralContainer":                  written,
		"EphemeralContainerCommon":            written,
		"PersistentVolumeClaim.status":        "dropped from a claim; create.yaml has it",
		"TypedObjectReference.namespace":      off,
		"PodSpec.schedulingGroup":             off,
		"PodSchedulingGroup":                  off,
		"PodSpec.evictionResponders":          off,
		"EvictionResponder":                   off,
		"Lifecycle.stopSignal":                off,
		"GRPCAction.mode":                     off,
		"HTTPGetAction.protocol":              off,
		"VolumeMount.bindMountOptions":        off,
		"EmptyDirVolumeSource.mode":           off,
		"ConfigMapVolumeSource.defaultUser":   off,
		"SecretVolumeSource.defaultUser":      off,
		"DownwardAPIVolumeSource.defaultUser": off,
		"ProjectedVolumeSource.defaultUser":   off,
		"KeyToPath.user":                      off,
		"DownwardAPIVolumeFile.user":          off,
		"ServiceAccountTokenProjection.user":  off,
		"ClusterTrustBundleProjection.user":   off,
		"PodCertificateProjection.user":       off,
	}
}

// TestTheSeedsHaveEveryField checks that there is no field of any type in the spec of
// apps/v1 that the corpus leaves out.
func TestTheSeedsHaveEveryField(t *testing.T) {
	all, seen := map[string]bool{}, map[string]bool{}
	spec := reflect.TypeFor[appsv1.StatefulSetSpec]()
	collect(spec, all)
	for _, object := range readSeeds(t) {
		mark(spec, object["spec"], seen)
	}
	excused := unseeded()
	for _, field := range keysOf(all, nil) {
		kind, _, _ := strings.Cut(field, ".")
		_, fieldExcused := excused[field]
		_, kindExcused := excused[kind]
		if excused := fieldExcused || kindExcused; seen[field] == excused {
			t.Errorf("field %s: got %t as whether a seed has it, and %t as whether it is excused; want one of the two", field, seen[field], excused)
		}
	}
}

// collect names every field that is reached from a type.
func collect(of reflect.Type, fields map[string]bool) {
	for _, f := range fieldsOf(of) {
		if !fields[f.name] {
			fields[f.name] = true
			collect(f.kind, fields)
		}
	}
}

// mark names every field that a value has.
func mark(of reflect.Type, value any, fields map[string]bool) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			mark(of, item, fields)
		}
	case map[string]any:
		for _, f := range fieldsOf(of) {
			if child, ok := v[f.key]; ok {
				fields[f.name] = true
				mark(f.kind, child, fields)
			}
		}
	}
}

type typeField struct {
	key, name string
	kind      reflect.Type
}

// fieldsOf are the fields of a type, or of the type that it points to or lists. Those
// of embedded types count as its own.
func fieldsOf(of reflect.Type) []typeField {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	whole := []reflect.Type{
		reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString](),
		reflect.TypeFor[metav1.ObjectMeta](), reflect.TypeFor[metav1.TypeMeta](),
		reflect.TypeFor[corev1.PersistentVolumeClaimStatus](),
	}
	if of.Kind() != reflect.Struct || slices.Contains(whole, of) {
		return nil
	}
	var fields []typeField
	for f := range of.Fields() {
		switch key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key {
		case "-":
		case "":
			fields = append(fields, fieldsOf(f.Type)...)
		default:
			fields = append(fields, typeField{key, of.Name() + "." + key, f.Type})
		}
	}
	return fields
}
