// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistrytest "k8s.io/apiserver/pkg/registry/generic/testing"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

// The contract of every resource: what the generic machinery, and clients,
// expect of any store.

func contract(t *testing.T) *genericregistrytest.Tester {
	t.Helper()
	return genericregistrytest.New(t, newTestStorage(t).StatefulSet.Store)
}

func TestContractCreate(t *testing.T) {
	valid := settest.Changed(func(set *v1.StatefulSet) { set.ObjectMeta = metav1.ObjectMeta{} })
	invalid := settest.Changed(func(set *v1.StatefulSet) { set.ObjectMeta, set.Spec.Selector = metav1.ObjectMeta{}, nil })
	contract(t).TestCreate(valid, invalid)
}

func TestContractUpdate(t *testing.T) {
	update := func(change func(*v1.StatefulSet)) genericregistrytest.UpdateFunc {
		return func(obj runtime.Object) runtime.Object {
			change(obj.(*v1.StatefulSet))
			return obj
		}
	}
	contract(t).TestUpdate(settest.Valid(),
		update(func(set *v1.StatefulSet) { set.Spec.Replicas = ptr.To[int32](5) }),
		update(func(set *v1.StatefulSet) { set.Spec.VolumeClaimTemplates = nil }),
		update(func(set *v1.StatefulSet) { set.Spec.Template.Spec.Containers = nil }),
	)
}

func TestContractDelete(t *testing.T) { contract(t).TestDelete(settest.Valid()) }
func TestContractGet(t *testing.T)    { contract(t).TestGet(settest.Valid()) }
func TestContractList(t *testing.T)   { contract(t).TestList(settest.Valid()) }

func TestContractWatch(t *testing.T) {
	contract(t).TestWatch(settest.Valid(),
		[]labels.Set{{"a": "b"}}, []labels.Set{{"a": "c"}, {"foo": "bar"}},
		[]fields.Set{{"metadata.name": "web"}, {"metadata.namespace": metav1.NamespaceDefault}},
		[]fields.Set{{"metadata.name": "other"}, {"metadata.name": "web", "metadata.namespace": "other"}})
}

func TestSetsHaveTheirOwnShortNameAndNoCategory(t *testing.T) {
	storage := newTestStorage(t).StatefulSet
	if got := storage.ShortNames(); len(got) != 1 || got[0] != "sset" {
		t.Errorf("short names: got %q, want [sset]", got)
	}
	if got := storage.GetSingularName(); got != "statefulset" {
		t.Errorf("singular name: got %q, want %q", got, "statefulset")
	}
	if c, ok := any(storage).(rest.CategoriesProvider); ok {
		t.Errorf("categories: got %q, want none", c.Categories())
	}
}

func create(t *testing.T, s Storage, set *v1.StatefulSet) *v1.StatefulSet {
	t.Helper()
	obj, err := s.StatefulSet.Create(s.requestFor(""), set, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a set: %v", err)
	}
	return obj.(*v1.StatefulSet)
}

func update(t *testing.T, s Storage, set *v1.StatefulSet) *v1.StatefulSet {
	t.Helper()
	obj, _, err := s.StatefulSet.Update(s.requestFor(""), set.Name, rest.DefaultUpdatedObjectInfo(set),
		rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		t.Fatalf("updating a set: %v", err)
	}
	return obj.(*v1.StatefulSet)
}
