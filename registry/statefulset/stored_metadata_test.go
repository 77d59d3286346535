// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"maps"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
)

// store puts a set into the storage as an earlier version has, whatever the rules are now.
func store(t *testing.T, s Storage, set *v1.StatefulSet) {
	t.Helper()
	ctx := s.requestFor("")
	key, err := s.StatefulSet.KeyFunc(ctx, set.Name)
	if err != nil {
		t.Fatal(err)
	}
	rest.FillObjectMetaSystemFields(set)
	if err := s.StatefulSet.Storage.Create(ctx, key, set, &v1.StatefulSet{}, 0, false); err != nil {
		t.Fatalf("storing the set: %v", err)
	}
}

func TestAStoredSetWithKeysOfTheGroupIsScaledFinalizedAndDeleted(t *testing.T) {
	s, stored := newTestStorage(t), withValue(places()["spec.template.metadata.labels"], reservedKey, "x")
	for _, at := range places() {
		*at(stored) = maps.Clone(*at(stored))
		if *at(stored) == nil {
			*at(stored) = map[string]string{}
		}
		(*at(stored))[reservedKey] = "x"
	}
	store(t, s, stored)
	if _, err := rescale(s, "web", func(scale *autoscalingv1.Scale) { scale.Spec.Replicas = 1 }); err != nil {
		t.Errorf("scaling: got %v, want no error", err)
	}
	for _, change := range []func(*v1.StatefulSet){
		func(set *v1.StatefulSet) { set.Labels["more"] = "x" },
		func(set *v1.StatefulSet) { set.Spec.MinReadySeconds = 5 },
		func(set *v1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = "nginx:2" },
		func(set *v1.StatefulSet) { set.Finalizers = []string{"example.com/keep"} },
	} {
		set := storedSet(t, s)
		change(set)
		update(t, s, set)
	}
	for field, at := range places() {
		if got := (*at(storedSet(t, s)))[reservedKey]; got != "x" {
			t.Errorf("the value stored in %s is %q, want x", field, got)
		}
	}
	if _, _, err := s.StatefulSet.Delete(s.requestFor(""), "web", rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
		t.Errorf("deleting: got %v, want no error", err)
	}
	set := storedSet(t, s)
	set.Finalizers = nil
	update(t, s, set)
	if _, err := s.StatefulSet.Get(s.requestFor(""), "web", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: got %v, want that the set is not found", err)
	}
}
