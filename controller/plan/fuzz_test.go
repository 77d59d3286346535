// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// FuzzCompute: a plan can be made for any set that can be decoded, even one that
// validation would refuse, with the pods that members tells of: one for each byte. The
// same world gives the same plan, and is not changed by it.
func FuzzCompute(f *testing.F) {
	for _, policy := range []v1.PodManagementPolicyType{v1.OrderedReadyPodManagement, v1.ParallelPodManagement} {
		f.Add(seedMessage(f, policy), []byte{0, 1, 2, 3, 0x84, 0x45})
		f.Add(seedMessage(f, policy), []byte{})
	}
	f.Fuzz(func(t *testing.T, message, members []byte) {
		set := &v1.StatefulSet{}
		if set.Unmarshal(message) != nil || len(members) > 32 {
			return
		}
		v1.SetObjectDefaults_StatefulSet(set)
		world := worldOf(set, members)
		before := copyOf(world)
		first := Compute(world)
		if !reflect.DeepEqual(before, world) {
			t.Fatalf("the world after planning:\n got %+v\nwant %+v", world, before)
		}
		if second := Compute(before); !reflect.DeepEqual(first, second) {
			t.Fatalf("the plan of the same world:\n got %+v\nwant %+v", second, first)
		}
		if wanted := ptr.Deref(set.Spec.Replicas, 1); first.Unavailable < 0 || first.Unavailable > max(0, int(wanted)) {
			t.Fatalf("unavailable members of %d: got %d", wanted, first.Unavailable)
		}
	})
}

func seedMessage(tb testing.TB, policy v1.PodManagementPolicyType) []byte {
	tb.Helper()
	set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "1", Generation: 2}}
	set.Spec = v1.StatefulSetSpec{
		Replicas: ptr.To[int32](3), PodManagementPolicy: policy,
		Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		},
	}
	message, err := set.Marshal()
	if err != nil {
		tb.Fatalf("encoding a seed: %v", err)
	}
	return message
}

// worldOf makes a pod of each byte: the low bits are its ordinal, the high ones say
// how it is.
func worldOf(set *v1.StatefulSet, members []byte) World {
	world := World{Set: set, Now: time.Unix(1_800_000_000, 0)}
	seen := map[string]bool{}
	for _, member := range members {
		pod := identity.Pod(set, &set.Spec.Template, set.Status.CurrentRevision, int(member&0x0f))
		if seen[pod.Name] {
			continue
		}
		seen[pod.Name] = true
		switch member >> 4 {
		case 1:
			pod.Status.Phase = corev1.PodFailed
		case 2:
			pod.DeletionTimestamp = new(metav1.NewTime(world.Now))
		case 4:
			pod.Labels = nil
		case 6:
			pod.OwnerReferences = nil
		default:
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(world.Now)}}
		}
		world.Pods = append(world.Pods, pod)
		if member&0x80 != 0 {
			world.Claims = append(world.Claims, identity.Claims(set, int(member&0x0f))...)
		}
	}
	return world
}

func copyOf(world World) World {
	same := world
	same.Set, same.Pods, same.Claims = world.Set.DeepCopy(), nil, nil
	for _, pod := range world.Pods {
		same.Pods = append(same.Pods, pod.DeepCopy())
	}
	for _, claim := range world.Claims {
		same.Claims = append(same.Claims, claim.DeepCopy())
	}
	return same
}
