//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/harness"
)

const apiService = "v1.apps.statefulset.dev"

// newSet is a set whose claims, too, go with it.
func newSet(name string, replicas int32) *v1.StatefulSet {
	set := harness.WithClaim(harness.NewSet(name, replicas))
	set.Spec.PodManagementPolicy = v1.ParallelPodManagement
	set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: v1.DeletePersistentVolumeClaimRetentionPolicyType,
	}
	return set
}

// members are the objects of one set, by name, with their UIDs.
type members struct {
	w         *world
	namespace string
	set       *v1.StatefulSet
	uids      map[string]string
}

// settle creates a set and waits until its members and their claims are complete.
func (w *world) settle(t *testing.T, ns, name string, replicas int32) *members {
	t.Helper()
	set, err := w.Sets.AppsV1().StatefulSets(ns).Create(t.Context(), newSet(name, replicas), metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating set %s: %v", name, err)
	}
	m := &members{w: w, namespace: ns, set: set}
	m.awaitReady(t)
	harness.Eventually(t, "the claims belong to the set", func(ctx context.Context) error {
		claims, err := w.Host.CoreV1().PersistentVolumeClaims(ns).List(ctx, metav1.ListOptions{LabelSelector: "app=" + name})
		if err != nil {
			return err
		}
		for i := range claims.Items {
			if len(claims.Items[i].OwnerReferences) != 1 {
				return fmt.Errorf("claim %s has owners %v", claims.Items[i].Name, claims.Items[i].OwnerReferences)
			}
		}
		return nil
	})
	if m.uids, err = m.present(t.Context()); err != nil || len(m.uids) != int(2*replicas) {
		t.Fatalf("members of %s: got %v, %v, want %d pods and claims", name, m.uids, err, 2*replicas)
	}
	return m
}

// awaitReady waits until the set is ready in its present generation.
func (m *members) awaitReady(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "set "+m.set.Name+" is ready", func(ctx context.Context) error {
		set, err := m.w.Sets.AppsV1().StatefulSets(m.namespace).Get(ctx, m.set.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range set.Status.Conditions {
			if c.Type == v1.StatefulSetReady && c.Status == corev1.ConditionTrue && set.Status.ObservedGeneration == set.Generation && set.Status.ReadyReplicas == *set.Spec.Replicas {
				return nil
			}
		}
		return fmt.Errorf("generation %d, status %+v", set.Generation, set.Status)
	})
}

// present are the UIDs of the pods and claims that are there and stay.
func (m *members) present(ctx context.Context) (map[string]string, error) {
	uids := map[string]string{}
	options := metav1.ListOptions{LabelSelector: "app=" + m.set.Name}
	pods, err := m.w.Host.CoreV1().Pods(m.namespace).List(ctx, options)
	if err != nil {
		return nil, err
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			uids["pod "+pods.Items[i].Name] = string(pods.Items[i].UID)
		}
	}
	claims, err := m.w.Host.CoreV1().PersistentVolumeClaims(m.namespace).List(ctx, options)
	if err != nil {
		return nil, err
	}
	for i := range claims.Items {
		if claims.Items[i].DeletionTimestamp == nil {
			uids["claim "+claims.Items[i].Name] = string(claims.Items[i].UID)
		}
	}
	return uids, nil
}

// mustStay watches the members for a while, and reports a violation for each look
// at which they are not all the same. Meanwhile our API is asked for the set over
// and over: it may fail, and it may not say that the set is not there.
//
// That the garbage collector is at work is shown by an object of its own whose
// owner does not exist: the wait lasts until that one is gone, too.
func (m *members) mustStay(t *testing.T, during string, duration time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var denied atomic.Int64
	var asking sync.WaitGroup
	for _, client := range []versioned.Interface{m.w.Sets, m.w.direct} {
		asking.Go(func() { denied.Add(m.askUntil(ctx, t, client)) })
	}
	bait := m.bait(t)
	violations := 0
	begun := time.Now()
	for eaten := false; !eaten || time.Since(begun) < duration; {
		if now, err := m.present(ctx); err == nil && !maps.Equal(now, m.uids) {
			violations++
			t.Errorf("%s: members after %s: got %v, want %v", during, time.Since(begun).Round(time.Second), now, m.uids)
		}
		if _, err := m.w.Host.CoreV1().ConfigMaps(m.namespace).Get(ctx, bait, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			eaten = true
		}
		if violations > 0 || time.Since(begun) > duration+harness.Patience {
			if !eaten {
				t.Errorf("%s: the garbage collector has not deleted an object without owner within %s", during, time.Since(begun))
			}
			break
		}
		time.Sleep(500 * time.Millisecond) // between two looks; the verdict does not depend on it
	}
	stop()
	asking.Wait()
	if n := denied.Load(); n > 0 {
		violations++
		t.Errorf("%s: our API said %d times that the set does not exist, want never", during, n)
	}
	row.Report(t, row.Row{
		Fault: "damaged, empty or older store", Side: "ours", Where: "real", Runs: 1, Violations: violations,
		Detail: "no pod, claim or set was lost while the garbage collector was at work",
	})
}

// askUntil counts how often our API says that the set is not there.
func (m *members) askUntil(ctx context.Context, t *testing.T, client versioned.Interface) (denied int64) {
	for ctx.Err() == nil {
		sets := client.AppsV1().StatefulSets(m.namespace)
		if got, err := sets.Get(ctx, m.set.Name, metav1.GetOptions{}); saysGone(err, m.set.Name) || err == nil && got.UID != m.set.UID {
			t.Logf("get: %v, %v", got, err)
			denied++
		}
		if list, err := sets.List(ctx, metav1.ListOptions{}); err == nil && len(list.Items) == 0 {
			t.Log("list: empty")
			denied++
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return denied
}

// saysGone reports whether our API says that the set does not exist. Without an
// APIService it is the host that says so of the whole API, in other words.
func saysGone(err error, name string) bool {
	return apierrors.IsNotFound(err) && strings.Contains(err.Error(), fmt.Sprintf("%q not found", name))
}

// bait creates an object whose owner does not exist.
func (m *members) bait(t *testing.T) string {
	t.Helper()
	made, err := m.w.Host.CoreV1().ConfigMaps(m.namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName:    "bait-",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "nobody", UID: "00000000-0000-0000-0000-000000000000"}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating an object without owner: %v", err)
	}
	return made.Name
}

// mustGo waits until the garbage collector has taken all members.
func (m *members) mustGo(t *testing.T) {
	t.Helper()
	harness.Eventually(t, "the members of "+m.set.Name+" are deleted", func(ctx context.Context) error {
		now, err := m.present(ctx)
		if err == nil && len(now) > 0 {
			return fmt.Errorf("still there: %v", now)
		}
		return err
	})
}
