//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/harness"
)

const (
	// planners ask for each of the hostile plans, over and over; every second one leaves
	// before it has an answer.
	planners = 8
	// planning is how long it lasts.
	planning = 20 * time.Second
	// planBody is about how many bytes a proposal has.
	planBody = 50 << 10
)

// hostilePlans are proposals that are small and want much.
func hostilePlans(t *testing.T) map[string]string {
	t.Helper()
	plans := map[string]string{}
	propose := func(name string, fill func(*v1.StatefulSet)) {
		set := harness.NewSet("wanted", 1<<31-1)
		set.TypeMeta = metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind}
		set.Spec.PodManagementPolicy = v1.ParallelPodManagement
		fill(set)
		body, err := json.Marshal(set)
		if err != nil {
			t.Fatalf("encoding a proposal: %v", err)
		}
		plans[name] = string(body)
	}
	claim := corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}
	propose("containers", func(set *v1.StatefulSet) {
		for i := range planBody / 60 {
			set.Spec.Template.Spec.Containers = append(set.Spec.Template.Spec.Containers, corev1.Container{Name: fmt.Sprint("c", i), Image: "b"})
		}
	})
	propose("claims", func(set *v1.StatefulSet) {
		for i := range planBody / 150 {
			set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates,
				corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", i)}, Spec: claim})
		}
	})
	propose("volumes", func(set *v1.StatefulSet) {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: claim}}
		for i := range planBody / 40 {
			set.Spec.Template.Spec.Volumes = append(set.Spec.Template.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i)})
		}
	})
	propose("one after the other", func(set *v1.StatefulSet) { set.Spec.PodManagementPolicy = v1.OrderedReadyPodManagement })
	return plans
}

// TestHostilePlansAreShed asks for many plans at once that cost much, while a set is
// created, scaled and the lease renewed.
func TestHostilePlansAreShed(t *testing.T) {
	w := newWorld(t, nil)
	w.create("before", 1)
	w.awaitReady("before", 1)
	lease, codes, violations := w.lease(), &tally{codes: map[int]int{}}, 0
	client, base := w.client("planner")
	url := base + "/apis/apps.statefulset.dev/v1/namespaces/" + w.namespace + "/statefulsets/wanted/plan"

	ctx, stop := context.WithTimeout(t.Context(), planning)
	defer stop()
	var running sync.WaitGroup
	for _, body := range hostilePlans(t) {
		for sender := range planners {
			running.Go(func() {
				repeat(ctx, func() {
					patience, leave := context.WithCancel(ctx)
					if sender%2 == 1 {
						patience, leave = context.WithTimeout(ctx, 50*time.Millisecond)
					}
					defer leave()
					code := send(patience, client, http.MethodPost, url, body, codes)
					if codes.add(code); code == http.StatusTooManyRequests {
						pause(ctx, 50*time.Millisecond) // Retry-After says a second
					}
				})
			})
		}
	}
	w.create("during", 3)
	w.awaitReady("during", 3)
	running.Wait()

	left := time.Now()
	w.eventually("a plan is made after the others have left", func(ctx context.Context) error {
		if code := send(ctx, client, http.MethodPost, url, hostilePlans(t)["containers"], codes); code != http.StatusCreated {
			return fmt.Errorf("got %d", code)
		}
		return nil
	})
	t.Logf("answers: %s; a plan was made %s after the others had left; at most %d MiB", codes, time.Since(left).Round(time.Millisecond),
		w.memory()>>20)
	for code, count := range codes.codes {
		if code != 0 && code != http.StatusCreated && code != http.StatusTooManyRequests {
			violations++
			t.Errorf("answers with code %d: got %d, want none: %s", code, count, codes.sample)
		}
	}
	if codes.of(http.StatusTooManyRequests) == 0 || codes.of(http.StatusCreated) == 0 {
		violations++
		t.Errorf("answers: got %s, want some 201 and some 429", codes)
	}
	violations += w.keptLease(lease, left)
	if peak := w.memory(); peak > memoryCeiling {
		violations++
		t.Errorf("memory: got %d MiB, want at most %d", peak>>20, memoryCeiling>>20)
	}
	row.Report(t, row.Row{Fault: "hostile plans", Side: "ours", Where: "real",
		Runs: codes.of(http.StatusCreated) + codes.of(http.StatusTooManyRequests), Violations: violations,
		Detail: fmt.Sprintf("%d ask at once, half of them leave; %d shed with 429; lease kept; at most %d MiB", len(hostilePlans(t))*planners,
			codes.of(http.StatusTooManyRequests), w.memory()>>20)})
}

// The lease of the controller.
const leaseNamespace, leaseName = "statefulset-system", "statefulset-apiserver-controller"

// lease is that of the controller.
func (w *world) lease() *coordinationv1.Lease {
	w.t.Helper()
	var lease *coordinationv1.Lease
	w.eventually("the controller has its lease", func(ctx context.Context) (err error) {
		lease, err = w.Host.CoordinationV1().Leases(leaseNamespace).Get(ctx, leaseName, metav1.GetOptions{})
		if err == nil && (lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || lease.Spec.LeaseTransitions == nil ||
			lease.Spec.AcquireTime == nil) {
			err = fmt.Errorf("got %+v", lease.Spec)
		}
		return err
	})
	return lease
}

// keptLease returns 1 if the controller has lost its lease, and waits for a renewal.
func (w *world) keptLease(before *coordinationv1.Lease, since time.Time) (violations int) {
	w.t.Helper()
	var now *coordinationv1.Lease
	w.eventually("the lease is renewed", func(context.Context) error {
		if now = w.lease(); now.Spec.RenewTime == nil || !now.Spec.RenewTime.After(since) {
			return fmt.Errorf("got %v, want a time after %s", now.Spec.RenewTime, since)
		}
		return nil
	})
	if *now.Spec.HolderIdentity != *before.Spec.HolderIdentity || *now.Spec.LeaseTransitions != *before.Spec.LeaseTransitions ||
		!now.Spec.AcquireTime.Equal(before.Spec.AcquireTime) {
		w.t.Errorf("lease: got %+v, want it kept as in %+v", now.Spec, before.Spec)
		return 1
	}
	return 0
}
