//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// describe has the set describe objects that go with it, and waits until they are there.
func (m *members) describe(t *testing.T) {
	t.Helper()
	m.w.MayMake(t, []string{"configmaps"})
	sets := m.w.Sets.AppsV1().StatefulSets(m.Namespace)
	harness.Eventually(t, "the set may describe ConfigMaps", func(ctx context.Context) error {
		_, err := sets.Patch(ctx, m.Set.Name, types.MergePatchType, []byte(harness.GoingWithTheSet), metav1.PatchOptions{})
		return err
	})
	replicas := *m.Set.Spec.Replicas
	harness.Eventually(t, "the objects of set "+m.Set.Name+" are there", func(ctx context.Context) error {
		set, err := sets.Get(ctx, m.Set.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if told := set.Status.ObjectTemplates; len(told) != 2 || told[0].Updated != replicas || told[1].Updated != 1 {
			return fmt.Errorf("status says of objects %+v", told)
		}
		m.UIDs, err = m.Present(ctx)
		return err
	})
	if got, want := len(m.UIDs), 3*int(replicas)+1; got != want {
		t.Fatalf("of set %s there are %v, want %d: a pod, a claim and a ConfigMap each, and one of the set", m.Set.Name, m.UIDs, want)
	}
	m.AwaitReady(t)
}

// Present are the UIDs of the pods, claims and ConfigMaps that are there and stay.
func (m *members) Present(ctx context.Context) (map[string]string, error) {
	uids, err := m.Members.Present(ctx)
	if err != nil {
		return nil, err
	}
	all, err := m.w.Host.CoreV1().ConfigMaps(m.Namespace).List(ctx, metav1.ListOptions{LabelSelector: v1.ObjectSetLabel + "=" + m.Set.Name})
	if err != nil {
		return nil, fmt.Errorf("listing ConfigMaps: %w", err)
	}
	for i := range all.Items {
		if all.Items[i].DeletionTimestamp == nil {
			uids["object "+all.Items[i].Name] = string(all.Items[i].UID)
		}
	}
	return uids, nil
}
