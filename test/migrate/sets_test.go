//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
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

// web is a set of apps/v1 with that many members, each with a claim.
func web(replicas int32) *appsv1.StatefulSet {
	labels := map[string]string{"app": "web"}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: labels, Annotations: map[string]string{"example.test/note": "kept"}},
		Spec: appsv1.StatefulSetSpec{
			Replicas:    new(replicas),
			ServiceName: "web",
			Selector:    &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "main", Image: "example.test/main:1",
					VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}},
				}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources: corev1.VolumeResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
					},
				},
			}},
		},
	}
}

func create(t *testing.T, ns string, set *appsv1.StatefulSet) {
	t.Helper()
	if _, err := suite.Host.AppsV1().StatefulSets(ns).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating set %s: %v", set.Name, err)
	}
}

func patch(t *testing.T, ns, change string) {
	t.Helper()
	if _, err := suite.Host.AppsV1().StatefulSets(ns).Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(change),
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("patching set web with %s: %v", change, err)
	}
}

func patchOurs(t *testing.T, ns, change string) {
	t.Helper()
	if _, err := suite.Sets.AppsV1().StatefulSets(ns).Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(change),
		metav1.PatchOptions{}); err != nil {
		t.Fatalf("patching our set web with %s: %v", change, err)
	}
}

// waitReady waits until so many members of the apps/v1 set are ready, and so many run the
// present template.
func waitReady(t *testing.T, ns string, ready, updated int32) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("%d members of set web are ready and %d updated", ready, updated), func(ctx context.Context) error {
		set, err := suite.Host.AppsV1().StatefulSets(ns).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if set.Status.ObservedGeneration != set.Generation || set.Status.ReadyReplicas != ready || set.Status.UpdatedReplicas != updated {
			return fmt.Errorf("generation %d, status %+v", set.Generation, set.Status)
		}
		return nil
	})
}

// snapshot is what has to be the same before and after a move.
type snapshot map[string]string

func look(t *testing.T, ns string) snapshot {
	t.Helper()
	seen, err := snap(t.Context(), ns)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func snap(ctx context.Context, ns string) (snapshot, error) {
	seen := snapshot{}
	pods, err := suite.Host.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	for _, pod := range pods.Items {
		seen["pod "+pod.Name] = fmt.Sprintf("%s at %s, started %v, terminating %t", pod.UID, pod.Labels[identity.RevisionLabel],
			pod.Status.StartTime, pod.DeletionTimestamp != nil)
	}
	claims, err := suite.Host.CoreV1().PersistentVolumeClaims(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing claims: %w", err)
	}
	for _, claim := range claims.Items {
		seen["claim "+claim.Name] = fmt.Sprintf("%s, terminating %t", claim.UID, claim.DeletionTimestamp != nil)
	}
	revisions, err := suite.Host.AppsV1().ControllerRevisions(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		return nil, fmt.Errorf("listing revisions: %w", err)
	}
	for _, revision := range revisions.Items {
		seen["revision "+revision.Name] = fmt.Sprintf("%s, number %d", revision.UID, revision.Revision)
	}
	return seen, nil
}

// expectSame fails the test if anything is not as it was.
func expectSame(t *testing.T, when string, before, after snapshot) {
	t.Helper()
	for name, was := range before {
		if is := after[name]; is != was {
			t.Errorf("%s: %s is %q, want %q as before", when, name, is, was)
		}
	}
	for name, is := range after {
		if _, ok := before[name]; !ok {
			t.Errorf("%s: %s (%s) is there, and was not before", when, name, is)
		}
	}
}

// expectOwner wants the set to exist in that group alone, to own every pod and revision,
// and to say of the revisions what the other one said.
func expectOwner(t *testing.T, when, ns, apiVersion string, revisions [3]string) {
	t.Helper()
	theirs, theirErr := suite.Host.AppsV1().StatefulSets(ns).Get(t.Context(), "web", metav1.GetOptions{})
	ours, ourErr := suite.Sets.AppsV1().StatefulSets(ns).Get(t.Context(), "web", metav1.GetOptions{})
	var uid types.UID
	var got [3]string
	switch {
	case apiVersion == "apps/v1" && theirErr == nil && apierrors.IsNotFound(ourErr):
		uid, got = theirs.UID, revisionsOf(theirs.Status.CurrentRevision, theirs.Status.UpdateRevision, theirs.Status.CollisionCount)
	case apiVersion != "apps/v1" && ourErr == nil && apierrors.IsNotFound(theirErr):
		uid, got = ours.UID, revisionsOf(ours.Status.CurrentRevision, ours.Status.UpdateRevision, ours.Status.CollisionCount)
		if len(ours.Annotations) != 1 || ours.Annotations["example.test/note"] != "kept" {
			t.Errorf("%s: annotations are %v, want those of the apps/v1 set alone", when, ours.Annotations)
		}
	default:
		t.Errorf("%s: getting the apps/v1 set: %v; getting ours: %v; want the one of %s alone", when, theirErr, ourErr, apiVersion)
		return
	}
	if got != revisions {
		t.Errorf("%s: current and update revision and collision count are %q, want %q", when, got, revisions)
	}
	pods, err := suite.Host.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	for _, pod := range pods.Items {
		if owner := metav1.GetControllerOf(&pod); owner == nil || owner.UID != uid || owner.APIVersion != apiVersion ||
			len(pod.OwnerReferences) != 1 {
			t.Errorf("%s: pod %s has the owners %+v, want the %s set alone", when, pod.Name, pod.OwnerReferences, apiVersion)
		}
	}
}

func revisionsOf(current, update string, collisions *int32) [3]string {
	count := int32(0)
	if collisions != nil {
		count = *collisions
	}
	return [3]string{current, update, fmt.Sprint(count)}
}

func theirRevisions(t *testing.T, ns string) [3]string {
	t.Helper()
	set, err := suite.Host.AppsV1().StatefulSets(ns).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("getting set web: %v", err)
	}
	return revisionsOf(set.Status.CurrentRevision, set.Status.UpdateRevision, set.Status.CollisionCount)
}
