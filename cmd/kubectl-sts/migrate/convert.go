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

// toOurs makes a set of ours of one of apps/v1, to be created. Its template is the
// stored one, with all defaults: that of the user's manifest might get others.
func toOurs(theirs *appsv1.StatefulSet) (*v1.StatefulSet, error) {
	ours := &v1.StatefulSet{}
	if err := recode(theirs.Spec, &ours.Spec); err != nil {
		return nil, err
	}
	ours.ObjectMeta = movedMeta(theirs.ObjectMeta, v1.SchemeGroupVersion.String())
	return ours, nil
}

// toTheirs makes a set of apps/v1 of one of ours, to be created. Fields that apps/v1
// does not have are dropped, and with them a block of the rolling update that has no
// others: apps/v1 would fill it in. Members that an update which is paused, or goes by steps, has
// not reached yet are kept from it by a partition. Claims that are deleted some time after a
// scale-down are retained: without the delay they would go with it.
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

// movedMeta is what goes along of an object's metadata.
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

// lastApplied is where kubectl apply keeps the manifest, which it compares with the
// next one.
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

// sameSpec reports whether two sets want the same.
func sameSpec(theirs *appsv1.StatefulSet, ours *v1.StatefulSet) bool {
	return len(differences(theirs, ours)) == 0
}

// differences are the paths of what two sets want differently, as far as apps/v1 can
// say it. What happens to claims when the set is deleted is not compared: a move
// changes it.
func differences(theirs *appsv1.StatefulSet, ours *v1.StatefulSet) []string {
	converted, err := toTheirs(ours)
	if err != nil {
		return []string{"spec"}
	}
	a, b := theirs.Spec.DeepCopy(), &converted.Spec
	if a.PersistentVolumeClaimRetentionPolicy != nil && b.PersistentVolumeClaimRetentionPolicy != nil {
		a.PersistentVolumeClaimRetentionPolicy.WhenDeleted = b.PersistentVolumeClaimRetentionPolicy.WhenDeleted
	}
	// Hosts below 1.37 leave it out, unless a gate is on, and do as if it were 1.
	if rolling := a.UpdateStrategy.RollingUpdate; rolling != nil && rolling.MaxUnavailable == nil {
		rolling.MaxUnavailable = new(intstr.FromInt32(1))
	}
	var left, right any
	if recode(a, &left) != nil || recode(b, &right) != nil {
		return []string{"spec"}
	}
	return slices.Compact(slices.Sorted(slices.Values(append(missing("spec", left, right), missing("spec", right, left)...))))
}

// extraFields are the fields of a stored set of ours that mean something and that
// apps/v1 does not have, as paths. One that has the value which it would have by default
// is not among them.
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

// missing lists what is in a and not the same in b.
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
