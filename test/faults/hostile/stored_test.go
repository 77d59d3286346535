//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/row"
	"statefulset.dev/test/harness"
)

// keeping is a finalizer of the test's.
const keeping = "test.example.com/keep"

// TestSetsThatAnEarlierVersionStoredKeepTheirPods stores sets with expressions that this version
// refuses: under a running server, and then with a start of the server, as an upgrade does it.
func TestSetsThatAnEarlierVersionStoredKeepTheirPods(t *testing.T) {
	w, violations := newWorld(t, nil), 0
	w.MayMake(t, []string{"configmaps"})
	expressions := hostileExpressions(t)
	w.create("good", 1)
	for name, e := range expressions {
		set := harness.NewSet(name, 1)
		e.set(set, e.harmless)
		if _, err := w.Sets.AppsV1().StatefulSets(w.namespace).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
			t.Fatalf("creating set %s: %v", name, err)
		}
	}
	w.awaitReady("good", 1)
	for name := range expressions {
		w.awaitReady(name, 1)
	}
	before, lease := w.pods(), w.lease()

	stored := time.Now()
	w.storeHostile(expressions)
	violations += w.judgeStored("while the server ran", expressions, before)
	violations += w.judgeDoctor(expressions)
	w.scaleGood(2)
	violations += w.keptLease(lease, stored)

	w.server.Stop(t, time.Minute)
	w.start()
	violations += w.judgeStored("after a start of the server", expressions, before)
	w.scaleGood(3)

	for name := range expressions {
		w.awaitAccepted(name)
	}
	violations += w.judgeStored("after they were scaled and given a finalizer", expressions, before)
	for name := range expressions {
		w.awaitDeleted(name)
	}
	w.scaleGood(1)
	row.Report(t, row.Row{Fault: "stored hostile expressions", Side: "ours", Where: "real", Runs: 3 * len(expressions), Violations: violations,
		Detail: "found running and at start; pods live, Stalled names the field, scaled and deleted, others scale"})
}

// storeHostile writes to etcd past the server what an earlier version has accepted. Each set is to
// have one more pod, for which its expression is evaluated.
func (w *world) storeHostile(expressions map[string]hostileExpression) {
	w.t.Helper()
	var writes []clientv3.Op
	for name, e := range expressions {
		set, err := w.Sets.AppsV1().StatefulSets(w.namespace).Get(w.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			w.t.Fatalf("reading set %s: %v", name, err)
		}
		e.set(set, e.hostile)
		set.TypeMeta = metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: v1.Kind}
		set.Spec.Replicas, set.Generation, set.ResourceVersion = new(int32(2)), set.Generation+1, ""
		value, err := json.Marshal(set)
		if err != nil {
			w.t.Fatalf("encoding set %s: %v", name, err)
		}
		writes = append(writes, clientv3.OpPut(keys+w.namespace+"/"+name, string(value)))
	}
	etcd := w.etcd()
	defer etcd.Close()
	if _, err := etcd.Txn(w.t.Context()).Then(writes...).Commit(); err != nil {
		w.t.Fatalf("storing %d sets: %v", len(writes), err)
	}
}

// judgeStored waits until each set reports that it is stalled and names the field, and counts those
// that have lost a pod.
func (w *world) judgeStored(when string, expressions map[string]hostileExpression, before map[string]corev1.Pod) (violations int) {
	w.t.Helper()
	for name, e := range expressions {
		field := strings.TrimSuffix(strings.TrimPrefix(e.field, "spec."), ".expression")
		w.eventually(fmt.Sprintf("%s: set %s is stalled and names %s", when, name, field), func(ctx context.Context) error {
			set, err := w.Sets.AppsV1().StatefulSets(w.namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			stalled, seen := set.Status.Condition(v1.StatefulSetStalled), set.Status.ObservedGeneration
			if seen != set.Generation || stalled.Status != corev1.ConditionTrue || stalled.Reason == "" ||
				!strings.Contains(stalled.Message, field) {
				return fmt.Errorf("got generation %d, observed %d, conditions %+v", set.Generation, seen, set.Status.Conditions)
			}
			return nil
		})
	}
	pods := w.pods()
	for name := range expressions {
		was, now := before[name+"-0"], pods[name+"-0"]
		if now.UID != was.UID || now.DeletionTimestamp != nil {
			violations++
			w.t.Errorf("%s: pod of %s: got UID %q, deleted %v, want %q, not deleted", when, name, now.UID, now.DeletionTimestamp, was.UID)
		}
	}
	return violations
}

// awaitAccepted scales a set, and changes its labels and finalizers.
func (w *world) awaitAccepted(name string) {
	w.t.Helper()
	sets := w.Sets.AppsV1().StatefulSets(w.namespace)
	w.eventually("set "+name+" accepts scale", func(ctx context.Context) error {
		scale, err := sets.GetScale(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = 3
		_, err = sets.UpdateScale(ctx, name, scale, metav1.UpdateOptions{})
		return err
	})
	for what, patch := range map[string]string{
		"a finalizer":               `{"metadata":{"finalizers":["` + keeping + `"]}}`,
		"a label":                   `{"metadata":{"labels":{"test":"changed"}}}`,
		"another field of its spec": `{"spec":{"revisionHistoryLimit":3}}`,
	} {
		w.eventually("set "+name+" accepts "+what, func(ctx context.Context) error {
			_, err := sets.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		})
	}
}

// awaitDeleted deletes a set, which stays until its finalizer is removed, and waits for its pods to
// be deleted.
func (w *world) awaitDeleted(name string) {
	w.t.Helper()
	sets := w.Sets.AppsV1().StatefulSets(w.namespace)
	if err := sets.Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatalf("deleting set %s: %v", name, err)
	}
	w.eventually("set "+name+" gives up its finalizer", func(ctx context.Context) error {
		set, err := sets.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if set.DeletionTimestamp == nil {
			return errors.New("got no time of deletion, want one")
		}
		set.Finalizers = slices.DeleteFunc(set.Finalizers, func(finalizer string) bool { return finalizer == keeping })
		_, err = sets.Update(ctx, set, metav1.UpdateOptions{})
		return err
	})
	w.eventually("set "+name+" and its pods are deleted", func(ctx context.Context) error {
		if _, err := sets.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("set: got %v, want that it is not found", err) //nolint:errorlint // it may be nil
		}
		list, err := w.Host.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + name})
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("pods: got %d, want none", len(list.Items))
		}
		return err
	})
}
