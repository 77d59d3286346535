//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/harness"
)

// TestObjectsThatGoWithTheirSetStayWhenItIsMoved moves a set back, and again: its objects stay, and the
// built-in controller takes nothing of them for its own. They go with the set that is deleted in the end.
func TestObjectsThatGoWithTheirSetStayWhenItIsMoved(t *testing.T) {
	t.Parallel()
	ns := movedWithObjects(t, 2)
	patchOurs(t, ns, harness.GoingWithTheSet)
	before := waitAnchored(t, ns)

	migrate(t, ns, "web", "--back", "--drop-extra-fields")
	expectAnchor(t, ns, before.anchor, nil)
	patch(t, ns, `{"spec":{"replicas":3}}`)
	waitReady(t, ns, 3, 3)
	patch(t, ns, `{"spec":{"replicas":2}}`)
	waitReady(t, ns, 2, 2)
	expectAnchor(t, ns, before.anchor, nil)
	expectObjects(t, "after the move back", ns, before)
	moved := look(t, ns)

	migrate(t, ns, "web")
	expectObjects(t, "after the return", ns, before)
	patchOurs(t, ns, harness.GoingWithTheSet)
	after := waitAnchored(t, ns)
	if after.anchor == before.anchor || !maps.Equal(after.uids, before.uids) {
		t.Errorf("described again, the objects are %v, want those of before at another anchor: %v", after, before)
	}
	expectSame(t, "after the return", moved, look(t, ns))

	if err := suite.Sets.AppsV1().StatefulSets(ns).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatalf("deleting the set: %v", err)
	}
	harness.Eventually(t, "the objects have gone with their set", func(ctx context.Context) error {
		left, err := anchoredIn(ctx, ns)
		if err == nil && len(left.uids) > 0 {
			return fmt.Errorf("there are %v", left)
		}
		return err
	})
}

// anchored are the ConfigMaps of the set, and the name of what they belong to, if that is one thing.
type anchored struct {
	anchor string
	uids   map[string]string
}

func anchoredIn(ctx context.Context, ns string) (anchored, error) {
	found := anchored{uids: map[string]string{}}
	all, err := suite.Host.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{LabelSelector: v1.ObjectSetLabel + "=web"})
	if err != nil {
		return found, err
	}
	var owners []string
	for _, object := range all.Items {
		if object.DeletionTimestamp == nil {
			found.uids[object.Name] = string(object.UID)
		}
		for _, owner := range object.OwnerReferences {
			owners = append(owners, owner.Kind+" "+owner.Name)
		}
	}
	if slices.Sort(owners); len(owners) == len(all.Items) && len(slices.Compact(owners)) == 1 {
		found.anchor = owners[0]
	}
	return found, nil
}

// waitAnchored waits until all objects belong to the anchor of our set.
func waitAnchored(t *testing.T, ns string) (found anchored) {
	t.Helper()
	harness.Eventually(t, "the objects of set web belong to its anchor", func(ctx context.Context) error {
		set, err := suite.Sets.AppsV1().StatefulSets(ns).Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if found, err = anchoredIn(ctx, ns); err != nil {
			return err
		}
		told := set.Status.ObjectTemplates
		if set.Status.ObservedGeneration != set.Generation || len(told) != 2 || told[0].Updated != 2 || told[1].Updated != 1 ||
			found.anchor == "" || len(found.uids) != 3 {
			return fmt.Errorf("generation %d, status %+v, objects %v", set.Generation, set.Status, found)
		}
		return nil
	})
	expectAnchor(t, ns, found.anchor, []string{v1.GroupName + "/v1"})
	return found
}

// expectAnchor checks that there is an anchor, and whose it is.
func expectAnchor(t *testing.T, ns, anchor string, owners []string) {
	t.Helper()
	all, err := suite.Host.AppsV1().ControllerRevisions(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing revisions: %v", err)
	}
	for _, revision := range all.Items {
		if "ControllerRevision "+revision.Name != anchor {
			continue
		}
		var got []string
		for _, owner := range revision.OwnerReferences {
			got = append(got, owner.APIVersion)
		}
		if !slices.Equal(got, owners) || revision.DeletionTimestamp != nil {
			t.Errorf("the anchor %s has owners of %q and is deleted at %v, want owners of %q", revision.Name, got, revision.DeletionTimestamp,
				owners)
		}
		return
	}
	t.Errorf("there is no %s among %d revisions, want one", anchor, len(all.Items))
}

func expectObjects(t *testing.T, when, ns string, want anchored) {
	t.Helper()
	got, err := anchoredIn(t.Context(), ns)
	if err != nil {
		t.Fatalf("listing ConfigMaps %s: %v", when, err)
	}
	if got.anchor != want.anchor || !maps.Equal(got.uids, want.uids) {
		t.Errorf("%s the objects are %v, want %v", when, got, want)
	}
}
