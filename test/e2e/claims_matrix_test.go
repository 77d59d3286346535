//go:build e2e

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// claimFate is one cell of the two tables in docs/claims.md: what becomes of the claims of three
// members, one of which is not ready.
type claimFate struct {
	name                    string
	whenScaled, whenDeleted v1.PersistentVolumeClaimRetentionPolicyType
	// play does what the row of the table names.
	play func(f *fate)
	// stays are the ordinals whose claims the tables promise to keep; the other claims are deleted.
	stays []int
}

const (
	retain = v1.RetainPersistentVolumeClaimRetentionPolicyType
	remove = v1.DeletePersistentVolumeClaimRetentionPolicyType
)

// claimFates are cells that one member more or less may change. docs/claims.md has all of them, and
// tests of the planner play those that need a clock.
func claimFates() []claimFate {
	all := []int{0, 1, 2}
	return []claimFate{
		{"scaled-in-retain", retain, retain, func(f *fate) { f.scaleIn() }, all},
		{"scaled-in-delete", remove, retain, func(f *fate) { f.scaleIn() }, []int{0}},
		{"pod-replaced", remove, retain, func(f *fate) { f.replace() }, all},
		{"deleted-retain", retain, retain, func(f *fate) { f.end() }, all},
		{"deleted-delete", retain, remove, func(f *fate) { f.end() }, nil},
		{"policy-before-deletion", retain, remove, func(f *fate) { f.setWhenDeleted(retain); f.end() }, all},
		{"scaled-in-and-policy-before-deletion", retain, remove, func(f *fate) { f.scaleIn(); f.setWhenDeleted(retain); f.end() }, all},
		{"scaled-in-and-deleted", retain, remove, func(f *fate) { f.scaleIn(); f.end() }, nil},
	}
}

// TestTheMatricesOfClaimsHoldOnTheRealGarbageCollector plays cells of the tables in docs/claims.md
// with each of three members unready, and compares which claims are left.
func TestTheMatricesOfClaimsHoldOnTheRealGarbageCollector(t *testing.T) {
	t.Parallel()
	for _, order := range []v1.PodManagementPolicyType{v1.OrderedReadyPodManagement, v1.ParallelPodManagement} {
		for unready := range 3 {
			for _, cell := range claimFates() {
				t.Run(fmt.Sprintf("%s/db-%d/%s", order, unready, cell.name), func(t *testing.T) {
					t.Parallel()
					ns, set := namespace(t), newSet("db", 3)
					set.Spec.PodManagementPolicy = order
					set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
						WhenScaled: cell.whenScaled, WhenDeleted: cell.whenDeleted}
					create(t, ns, set)
					waitReady(t, ns, "db", 3)
					f := &fate{t: t, ns: ns, pod: fmt.Sprintf("db-%d", unready), claims: claimUIDs(t, ns)}
					f.markReady(corev1.ConditionFalse)
					f.awaitUnready()
					cell.play(f)
					f.expect(cell.stays)
				})
			}
		}
	}
}

// fate is one set with a member that is not ready.
type fate struct {
	t *testing.T
	// ns has the set and nothing else. pod is that of the member that is not ready.
	ns, pod string
	// claims are the UIDs of the claims at the beginning.
	claims map[string]string
}

// markReady is what the pod's probe would report.
func (f *fate) markReady(status corev1.ConditionStatus) {
	f.t.Helper()
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q},{"type":"ContainersReady","status":%[1]q}]}}`, status)
	_, err := suite.Host.CoreV1().Pods(f.ns).Patch(f.t.Context(), f.pod, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		f.t.Fatalf("setting readiness of pod %s to %s: %v", f.pod, status, err)
	}
}

// awaitUnready waits until the set has observed that the member is not ready.
func (f *fate) awaitUnready() {
	f.t.Helper()
	harness.Eventually(f.t, "the set observes that "+f.pod+" is not ready", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(f.ns).Get(ctx, "db", metav1.GetOptions{})
		if err == nil && set.Status.ReadyReplicas != 2 {
			err = fmt.Errorf("it has %d ready members", set.Status.ReadyReplicas)
		}
		return err
	})
}

// serve makes the member ready again, so that an ordered set goes on.
func (f *fate) serve() { f.markReady(corev1.ConditionTrue) }

func (f *fate) scaleIn() {
	f.t.Helper()
	f.patch(`{"spec":{"replicas":1}}`)
	f.serve()
	waitReady(f.t, f.ns, "db", 1)
}

// replace deletes the pod of the second member, as an eviction does, and waits for the next one.
func (f *fate) replace() {
	f.t.Helper()
	before := getPod(f.t, f.ns, "db-1").UID
	if err := suite.Host.CoreV1().Pods(f.ns).Delete(f.t.Context(), "db-1", metav1.DeleteOptions{}); err != nil {
		f.t.Fatalf("deleting a pod: %v", err)
	}
	f.serve()
	harness.Eventually(f.t, "pod db-1 is another one", func(ctx context.Context) error {
		pod, err := suite.Host.CoreV1().Pods(f.ns).Get(ctx, "db-1", metav1.GetOptions{})
		if err == nil && pod.UID == before {
			err = errors.New("it is the deleted one")
		}
		return err
	})
	waitReady(f.t, f.ns, "db", 3)
}

// setWhenDeleted changes the policy, and waits until the controller has acted on it.
func (f *fate) setWhenDeleted(policy v1.PersistentVolumeClaimRetentionPolicyType) {
	f.t.Helper()
	f.patch(fmt.Sprintf(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":%q}}}`, policy))
	harness.Eventually(f.t, "no claim has an owner", func(ctx context.Context) error {
		claims, err := suite.Host.CoreV1().PersistentVolumeClaims(f.ns).List(ctx, metav1.ListOptions{})
		for i := range claims.Items {
			if owners := claims.Items[i].OwnerReferences; len(owners) > 0 {
				err = errors.Join(err, fmt.Errorf("claim %s is owned by %v", claims.Items[i].Name, owners))
			}
		}
		return err
	})
}

// end deletes the set, and waits until its pods are gone and the garbage collector has seen that.
func (f *fate) end() {
	f.t.Helper()
	if err := suite.Sets.AppsV1().StatefulSets(f.ns).Delete(f.t.Context(), "db", metav1.DeleteOptions{}); err != nil {
		f.t.Fatalf("deleting the set: %v", err)
	}
	expectNoPods(f.t, f.ns, nil)
	suite.AwaitCollector(f.t, f.ns)
}

func (f *fate) patch(patch string) {
	f.t.Helper()
	_, err := suite.Sets.AppsV1().StatefulSets(f.ns).Patch(f.t.Context(), "db", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		f.t.Fatalf("patching the set with %s: %v", patch, err)
	}
}

// expect waits until the claims are those that some ordinals had at the beginning.
func (f *fate) expect(ordinals []int) {
	f.t.Helper()
	want := map[string]string{}
	for _, ordinal := range ordinals {
		name := fmt.Sprintf("data-db-%d", ordinal)
		want[name] = f.claims[name]
	}
	harness.Eventually(f.t, fmt.Sprintf("the claims are %v", want), func(context.Context) error {
		if got := claimUIDs(f.t, f.ns); !maps.Equal(got, want) {
			return fmt.Errorf("they are %v", got)
		}
		return nil
	})
}
