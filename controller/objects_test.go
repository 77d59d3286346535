// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/identity"
)

// newSet is a set of the namespace "shop" with one claim template for each name.
func newSet(name string, claimTemplates ...string) *v1.StatefulSet {
	labels := map[string]string{"app": name}
	set := &v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: types.UID(name + "-uid"), ResourceVersion: "7", Generation: 1},
		Spec: v1.StatefulSetSpec{
			Replicas: ptr.To[int32](3),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/shop:1"}}},
			},
		},
	}
	for _, template := range claimTemplates {
		set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates,
			corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: template}})
	}
	v1.SetObjectDefaults_StatefulSet(set)
	return set
}

// newPod is a running and ready pod of the set.
func newPod(set *v1.StatefulSet, ordinal int) *corev1.Pod {
	pod := identity.Pod(set, &set.Spec.Template, "rev", ordinal)
	pod.UID = types.UID(fmt.Sprintf("%s-uid", pod.Name))
	pod.ResourceVersion = fmt.Sprint(100 + ordinal)
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

func newRevision(set *v1.StatefulSet, name string) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: set.Namespace, UID: types.UID(name + "-uid"), ResourceVersion: "50",
		OwnerReferences: []metav1.OwnerReference{identity.Owner(set)},
	}}
}

// filled is a view of the objects.
func filled(t testing.TB, objects ...metav1.Object) view {
	t.Helper()
	v := newView(watchedKinds(fake.NewClientset(), setsfake.NewSimpleClientset()))
	for _, object := range objects {
		if err := v.put(resourceOf(object), object); err != nil {
			t.Fatalf("filling view: %v", err)
		}
	}
	return v
}

func resourceOf(object metav1.Object) resource {
	switch object.(type) {
	case *v1.StatefulSet:
		return setsResource
	case *corev1.Pod:
		return podsResource
	case *corev1.PersistentVolumeClaim:
		return claimsResource
	case *appsv1.ControllerRevision:
		return revisionsResource
	default:
		panic(fmt.Sprintf("no cache holds a %T", object))
	}
}
