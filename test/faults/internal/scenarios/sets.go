// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "statefulset.dev/api/apps/v1"
)

// Name is the name of every set, and of its Service.
const Name = "web"

// ordered returns a set with one claim for each member.
func ordered(replicas int32) *appsv1.StatefulSet { return newSet(replicas, "data") }

func parallel(replicas int32, claims ...string) *appsv1.StatefulSet {
	set := newSet(replicas, claims...)
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	return set
}

func newSet(replicas int32, claims ...string) *appsv1.StatefulSet {
	labels := map[string]string{"app": Name}
	set := &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Name: Name, Labels: labels},
		Spec: appsv1.StatefulSetSpec{
			Replicas:    &replicas,
			ServiceName: Name,
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/web:1"}}},
			},
		},
	}
	for _, claim := range claims {
		set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: claim},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			},
		})
	}
	return set
}

func keeping(set *appsv1.StatefulSet, whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) *appsv1.StatefulSet {
	set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: whenDeleted, WhenScaled: whenScaled,
	}
	return set
}

func rolling(set *appsv1.StatefulSet, partition int32, maxUnavailable int) *appsv1.StatefulSet {
	limit := intstr.FromInt(maxUnavailable)
	set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{
		Type:          appsv1.RollingUpdateStatefulSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition, MaxUnavailable: &limit},
	}
	return set
}

func remembering(set *appsv1.StatefulSet, limit int32) *appsv1.StatefulSet {
	set.Spec.RevisionHistoryLimit = &limit
	return set
}

// Ours converts an apps/v1 set to one of our group. Both have the same wire format.
func Ours(set *appsv1.StatefulSet) (*v1.StatefulSet, error) {
	ours := &v1.StatefulSet{}
	wire, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encoding a set: %w", err)
	}
	if err := json.Unmarshal(wire, ours); err != nil {
		return nil, fmt.Errorf("decoding a set: %w", err)
	}
	ours.TypeMeta = metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind}
	return ours, nil
}
