// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// TestClaimsThatAnOlderSetHasTooGetNoOwner is about a set that has taken over pods
// which exist: nothing that becomes of it may delete the other set's data.
func TestClaimsThatAnOlderSetHasTooGetNoOwner(t *testing.T) {
	const remove = v1.DeletePersistentVolumeClaimRetentionPolicyType
	for sentence, replicas := range map[string]int32{"members that are wanted": 2, "members that are scaled away": 0} {
		for _, rival := range []string{"", "older"} {
			t.Run(fmt.Sprintf("%s, rival %q", sentence, rival), func(t *testing.T) {
				labels := map[string]string{"app": "web"}
				set := &v1.StatefulSet{
					ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "set-uid", Generation: 1},
					Spec: v1.StatefulSetSpec{
						Replicas: &replicas, PodManagementPolicy: v1.ParallelPodManagement,
						Selector:                             &metav1.LabelSelector{MatchLabels: labels},
						Template:                             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}},
						VolumeClaimTemplates:                 []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "www"}}},
						PersistentVolumeClaimRetentionPolicy: &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: remove, WhenScaled: remove},
					},
				}
				v1.SetObjectDefaults_StatefulSet(set)
				world := World{Set: set, Now: time.Unix(1000, 0)}
				if rival != "" {
					world.Rivals = map[string]string{"www": rival}
				}
				for ordinal := range 2 {
					pod := identity.Pod(set, &set.Spec.Template, "web-1", ordinal)
					pod.UID, pod.ResourceVersion = types.UID(pod.Name), "5"
					pod.Status.Phase = corev1.PodRunning
					world.Pods = append(world.Pods, pod)
					claim := identity.Claims(set, ordinal)[0]
					claim.UID, claim.ResourceVersion = types.UID(claim.Name), "6"
					world.Claims = append(world.Claims, claim)
				}
				world.Revisions = []*appsv1.ControllerRevision{}
				owners := 0
				for range 2 { // the first plan records the template
					decided := Compute(world)
					for _, act := range decided.All() {
						switch act := act.(type) {
						case action.SetClaimOwners:
							owners++
						case action.CreateRevision:
							act.Revision.UID = "revision-uid"
							world.Revisions = append(world.Revisions, act.Revision)
						}
					}
				}
				if want := rival == ""; owners > 0 != want {
					t.Errorf("got %d changes of claims' owners, want any: %t", owners, want)
				}
			})
		}
	}
}
