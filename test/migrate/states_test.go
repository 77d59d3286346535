//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/identity"
	"statefulset.dev/test/harness"
)

// nowhere makes new pods unschedulable, so that an update gets stuck at the first.
const nowhere = `{"spec":{"template":{"spec":{"nodeSelector":{"example.test/no":"where"}}}}}`

// state brings a set of apps/v1 into a state. Afterwards nothing changes by itself.
type state func(t *testing.T, ns string)

// states are those that a set can be moved in, by a sentence.
func states() map[string]state {
	return map[string]state{
		"three ready members": func(t *testing.T, ns string) {
			create(t, ns, web(3))
			waitReady(t, ns, 3, 3)
		},
		"five members, the update stuck at the last": stuck,
		"an update held back by a partition":         partitioned,
		"a revision whose name was taken":            collided,
		"a revision recorded by an older release":    recordedLongAgo,
		"claims that are deleted with the set": func(t *testing.T, ns string) {
			set := web(3)
			set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType, WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			}
			create(t, ns, set)
			waitReady(t, ns, 3, 3)
		},
		"claims that are deleted with the set, and an update stuck": func(t *testing.T, ns string) {
			set := web(3)
			set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
			}
			create(t, ns, set)
			waitReady(t, ns, 3, 3)
			patch(t, ns, nowhere)
			waitReady(t, ns, 2, 1)
		},
		"parallel members, all stuck in an update": func(t *testing.T, ns string) {
			set := web(3)
			set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
			create(t, ns, set)
			waitReady(t, ns, 3, 3)
			patch(t, ns, nowhere)
			waitReady(t, ns, 2, 1)
		},
		"an update that waits for pods to be deleted by hand": func(t *testing.T, ns string) {
			set := web(3)
			set.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
			create(t, ns, set)
			waitReady(t, ns, 3, 3)
			patch(t, ns, nowhere)
			waitReady(t, ns, 3, 0)
		},
		"members numbered from 7, and a history": func(t *testing.T, ns string) {
			set := web(2)
			set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 7}
			create(t, ns, set)
			waitReady(t, ns, 2, 2)
			for _, image := range []string{"2", "3"} {
				patch(t, ns, `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.test/main:`+image+`"}]}}}}`)
				waitReady(t, ns, 2, 2)
			}
		},
		"a member that a quota does not allow": func(t *testing.T, ns string) {
			quota := &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Name: "two"},
				Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
			}
			if _, err := suite.Host.CoreV1().ResourceQuotas(ns).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
				t.Fatalf("creating a quota: %v", err)
			}
			create(t, ns, web(3))
			waitReady(t, ns, 2, 2)
		},
		"no members": func(t *testing.T, ns string) {
			create(t, ns, web(0))
			waitReady(t, ns, 0, 0)
		},
	}
}

func stuck(t *testing.T, ns string) {
	create(t, ns, web(5))
	waitReady(t, ns, 5, 5)
	patch(t, ns, nowhere)
	waitReady(t, ns, 4, 1)
}

func partitioned(t *testing.T, ns string) {
	set := web(4)
	set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}
	create(t, ns, set)
	waitReady(t, ns, 4, 4)
	patch(t, ns, `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"example.test/main:2"}]}}}}`)
	waitReady(t, ns, 4, 2)
}

// collided makes another revision have the name that the set's would get.
func collided(t *testing.T, ns string) {
	create(t, ns, web(0))
	waitReady(t, ns, 0, 0)
	name := theirRevisions(t, ns)[1]
	forget(t, ns, name)
	decoy := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name}, Revision: 1}
	decoy.Data.Raw = []byte(`{"spec":{}}`)
	if _, err := suite.Host.AppsV1().ControllerRevisions(ns).Create(t.Context(), decoy, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating revision %s: %v", name, err)
	}
	create(t, ns, web(2))
	waitReady(t, ns, 2, 2)
	if got := theirRevisions(t, ns); got[2] == "0" {
		t.Fatalf("the collision count is %s, want more than 0", got[2])
	}
}

// recordedLongAgo replaces the set's revision by what releases before 1.34 recorded.
func recordedLongAgo(t *testing.T, ns string) {
	create(t, ns, web(2))
	waitReady(t, ns, 2, 2)
	name := theirRevisions(t, ns)[1]
	old, err := suite.Host.AppsV1().ControllerRevisions(ns).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting revision %s: %v", name, err)
	}
	forget(t, ns, name)
	var data map[string]any
	if err := json.Unmarshal(old.Data.Raw, &data); err != nil {
		t.Fatalf("reading revision %s: %v", name, err)
	}
	template := data["spec"].(map[string]any)["template"].(map[string]any)
	template["metadata"].(map[string]any)["creationTimestamp"] = nil
	// The name is that of the other bytes, as it would have been.
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "web-5d4f8c7b9", Labels: old.Labels}, Revision: 1}
	if revision.Data.Raw, err = json.Marshal(data); err != nil {
		t.Fatalf("encoding revision %s: %v", name, err)
	}
	if _, err := suite.Host.AppsV1().ControllerRevisions(ns).Create(t.Context(), revision, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating revision %s: %v", revision.Name, err)
	}
	label := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, identity.RevisionLabel, revision.Name)
	for _, pod := range []string{"web-0", "web-1"} {
		if _, err := suite.Host.CoreV1().Pods(ns).Patch(t.Context(), pod, types.MergePatchType, label, metav1.PatchOptions{}); err != nil {
			t.Fatalf("labelling pod %s: %v", pod, err)
		}
	}
	create(t, ns, web(2))
	waitReady(t, ns, 2, 2)
	if got := theirRevisions(t, ns)[1]; got != revision.Name {
		t.Fatalf("the revision is %s, want %s", got, revision.Name)
	}
}

// forget deletes the set and its revision, and leaves its pods.
func forget(t *testing.T, ns, revision string) {
	t.Helper()
	orphan := metav1.DeletePropagationOrphan
	sets := suite.Host.AppsV1().StatefulSets(ns)
	if err := sets.Delete(t.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		t.Fatalf("deleting set web: %v", err)
	}
	harness.Eventually(t, "set web is gone", func(ctx context.Context) error {
		_, err := sets.Get(ctx, "web", metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return errors.New("it is still there")
		}
	})
	if err := suite.Host.AppsV1().ControllerRevisions(ns).Delete(t.Context(), revision, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting revision %s: %v", revision, err)
	}
}
