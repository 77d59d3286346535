// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// toOurs converts a set of apps/v1 to a new set of our group. It uses the stored template with all
// its defaults, because the template of the user's manifest could get other defaults.
func toOurs(theirs *appsv1.StatefulSet) (*v1.StatefulSet, error) {
	ours := &v1.StatefulSet{}
	if err := recode(theirs.Spec, &ours.Spec); err != nil {
		return nil, err
	}
	ours.ObjectMeta = movedMeta(theirs.ObjectMeta, v1.SchemeGroupVersion.String())
	return ours, nil
}

// toTheirs converts a set of our group to a new set of apps/v1. It drops fields that apps/v1 does
// not have. It also drops a block rollingUpdate that has only such fields, because apps/v1 would
// set defaults in it. A partition excludes the members that a paused update, or an update with
// steps, has not reached yet. Claims that are deleted some time after a scale-down are retained,
// because without the delay the scale-down would delete them.
func toTheirs(ours *v1.StatefulSet) (*appsv1.StatefulSet, error) {
	theirs := &appsv1.StatefulSet{}
	if err := recode(ours.Spec, &theirs.Spec); err != nil {
		return nil, err
	}
	if rolling := ours.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.IsExtension() {
		theirs.Spec.UpdateStrategy.RollingUpdate = nil
	}
	if policy := ours.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil && policy.ScaledAfterSeconds != nil {
		theirs.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	}
	if rollout := heldBack(ours); rollout != nil {
		if partition, ok := partitionOf(ours, rollout); ok {
			if theirs.Spec.UpdateStrategy.RollingUpdate == nil {
				theirs.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{}
			}
			theirs.Spec.UpdateStrategy.RollingUpdate.Partition = &partition
		}
	}
	theirs.ObjectMeta = movedMeta(ours.ObjectMeta, appsv1.SchemeGroupVersion.String())
	return theirs, nil
}

func recode(from, to any) error {
	data, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		return fmt.Errorf("converting the set: %w", err)
	}
	return nil
}

// movedMeta returns the part of an object's metadata that a move keeps.
func movedMeta(meta metav1.ObjectMeta, apiVersion string) metav1.ObjectMeta {
	annotations := maps.Clone(meta.Annotations)
	delete(annotations, v1.HoldAnnotation)
	if applied, ok := annotations[lastApplied]; ok {
		annotations[lastApplied] = withAPIVersion(applied, apiVersion)
	}
	return metav1.ObjectMeta{
		Name:            meta.Name,
		Namespace:       meta.Namespace,
		Labels:          maps.Clone(meta.Labels),
		Annotations:     annotations,
		OwnerReferences: slices.Clone(meta.OwnerReferences),
	}
}

// lastApplied is the annotation in which kubectl apply records the manifest, which it compares with
// the next one.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func withAPIVersion(manifest, apiVersion string) string {
	var object map[string]any
	if json.Unmarshal([]byte(manifest), &object) != nil {
		return manifest
	}
	object["apiVersion"] = apiVersion
	changed, err := json.Marshal(object)
	if err != nil {
		return manifest
	}
	return string(changed) + "\n"
}

// sameSpec reports whether two sets have the same spec, as far as apps/v1 can express it.
func sameSpec(theirs *appsv1.StatefulSet, ours *v1.StatefulSet) bool {
	return len(differences(theirs, ours)) == 0
}

// differences returns the paths of the fields in which the specs of two sets differ, as far as
// apps/v1 can express them. It does not compare whenDeleted of claims, because a move changes that.
func differences(theirs *appsv1.StatefulSet, ours *v1.StatefulSet) []string {
	converted, err := toTheirs(ours)
	if err != nil {
		return []string{"spec"}
	}
	a, b := theirs.Spec.DeepCopy(), &converted.Spec
	if a.PersistentVolumeClaimRetentionPolicy != nil && b.PersistentVolumeClaimRetentionPolicy != nil {
		a.PersistentVolumeClaimRetentionPolicy.WhenDeleted = b.PersistentVolumeClaimRetentionPolicy.WhenDeleted
	}
	// Kubernetes before 1.37 omits the field, unless a feature gate is on, and behaves as if it were
	// 1.
	if rolling := a.UpdateStrategy.RollingUpdate; rolling != nil && rolling.MaxUnavailable == nil {
		rolling.MaxUnavailable = new(intstr.FromInt32(1))
	}
	var left, right any
	if recode(a, &left) != nil || recode(b, &right) != nil {
		return []string{"spec"}
	}
	return slices.Compact(slices.Sorted(slices.Values(append(missing("spec", left, right), missing("spec", right, left)...))))
}

// extraFields returns the paths of the fields of a stored set of our group that apps/v1 does not
// have, except for fields with their default value.
func extraFields(stored []byte) ([]string, error) {
	var whole map[string]any
	ours := &v1.StatefulSet{}
	if err := json.Unmarshal(stored, &whole); err != nil {
		return nil, fmt.Errorf("reading the set: %w", err)
	}
	if err := json.Unmarshal(stored, ours); err != nil {
		return nil, fmt.Errorf("reading the set: %w", err)
	}
	theirs, err := toTheirs(ours)
	if err != nil {
		return nil, err
	}
	again, err := toOurs(theirs)
	if err != nil {
		return nil, err
	}
	v1.SetObjectDefaults_StatefulSet(again)
	var kept any
	if err := recode(again.Spec, &kept); err != nil {
		return nil, err
	}
	return missing("spec", whole["spec"], kept), nil
}

// missing returns the paths of values in a that b lacks or that differ in b.
func missing(path string, a, b any) []string {
	var paths []string
	switch whole := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		for _, key := range sortedKeys(whole) {
			if ok {
				paths = append(paths, missing(path+"."+key, whole[key], other[key])...)
			}
		}
		if ok {
			return paths
		}
	case []any:
		if other, ok := b.([]any); ok && len(other) == len(whole) {
			for i := range whole {
				paths = append(paths, missing(fmt.Sprintf("%s[%d]", path, i), whole[i], other[i])...)
			}
			return paths
		}
	}
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return []string{path}
}
