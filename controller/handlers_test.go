// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
)

func TestAnEventConcernsTheSetsThatCouldCareAboutIt(t *testing.T) {
	web, db, shopDB := newSet("web", "www"), newSet("db", "data-shop"), newSet("shop-db", "data")
	v := filled(t, web, db, shopDB)
	all := watchedKinds(fake.NewClientset(), nil)
	sets := func(object metav1.Object) []cache.ObjectName { return all.of(resourceOf(object)).setsOf(v, object) }

	member := newPod(web, 1)
	renamed := newPod(web, 1)
	renamed.Name = "db-0"
	orphan := newPod(web, 1)
	orphan.OwnerReferences = nil
	unknownOwner := newPod(newSet("gone"), 1)
	ownRevision := newRevision(web, "web-5d4f")
	namesake := newRevision(newSet("gone"), "db-5d4f")
	adoptable := newRevision(web, "gone-5d4f")
	adoptable.OwnerReferences, adoptable.Labels = nil, map[string]string{"app": "db"}
	claim := func(name string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}

	cases := map[string]struct {
		got  []cache.ObjectName
		want []string
	}{
		"a member concerns its set once":                           {sets(member), []string{"shop/web"}},
		"a pod concerns its owner and the set it is in the way of": {sets(renamed), []string{"shop/web", "shop/db"}},
		"an orphan concerns the set that its name speaks of":       {sets(orphan), []string{"shop/web"}},
		"a pod of an unknown set concerns nobody":                  {sets(unknownOwner), nil},
		"a claim concerns the set that its name speaks of":         {sets(claim("www-web-4")), []string{"shop/web"}},
		"an ambiguous claim name concerns both sets":               {sets(claim("data-shop-db-0")), []string{"shop/db", "shop/shop-db"}},
		"a claim without an ordinal concerns nobody":               {sets(claim("www-web")), nil},
		"a claim whose ordinal has a leading zero concerns nobody": {sets(claim("www-web-04")), nil},
		"a revision concerns its owner":                            {sets(ownRevision), []string{"shop/web"}},
		"a revision concerns the set that may want its name":       {sets(namesake), []string{"shop/db"}},
		"an orphaned revision concerns the sets that it matches":   {sets(adoptable), []string{"shop/db"}},
		"a pod of another namespace concerns nobody of this one":   {sets(elsewhere(orphan)), nil},
		"a claim of another namespace concerns nobody of this one": {sets(elsewhere(claim("www-web-4"))), nil},
		"a revision of another namespace concerns nobody here":     {sets(elsewhere(adoptable)), nil},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, key := range test.got {
				got = append(got, key.String())
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(test.want))
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestOfOurOwnStatusOnlyWhatThePlannerReadsWakesASet(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*v1.StatefulSetStatus)
		want   bool
	}{
		"counts do not":           {func(s *v1.StatefulSetStatus) { s.Replicas = 3 }, false},
		"a completed update does": {func(s *v1.StatefulSetStatus) { s.CurrentRevision = "web-2" }, true},
		"a member that is to be replaced does": {func(s *v1.StatefulSetStatus) {
			s.Rollout = &v1.RolloutStatus{Revision: "web-2", Unblocking: new(int32(1))}
		}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := newSet("web")
			after := before.DeepCopy()
			after.ResourceVersion = "7"
			test.change(&after.Status)
			memory := newSetStates()
			memory.getOrCreate(cache.MetaObjectToName(after)).wrote(setsResource, after.ResourceVersion)
			if got := setChanged(memory, before, after); got != test.want {
				t.Errorf("woken: got %t, want %t", got, test.want)
			}
		})
	}
}

func TestOnlyAChangeOfWhatThePlannerReadsWakesASet(t *testing.T) {
	before := newPod(newSet("web"), 0)
	cases := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"a new resource version alone does not": {func(*corev1.Pod) {}, false},
		"an annotation does not":                {func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} }, false},
		"an IP address does not":                {func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }, false},
		"another condition does not": {func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.ContainersReady})
		}, false},
		"a node does not":    {func(p *corev1.Pod) { p.Spec.NodeName = "node-1" }, false},
		"readiness does":     {func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		"the phase does":     {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true},
		"a label does":       {func(p *corev1.Pod) { p.Labels["app"] = "other" }, true},
		"an owner does":      {func(p *corev1.Pod) { p.OwnerReferences = nil }, true},
		"being deleted does": {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, true},
		"a finalizer of one that is being deleted does": {func(p *corev1.Pod) {
			p.DeletionTimestamp, p.Finalizers = &metav1.Time{}, []string{"example.com/hold"}
		}, true},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			after := before.DeepCopy()
			after.ResourceVersion = "999"
			test.change(after)
			if got := podChanged(trimmedBy(t, filled(t), trimPod, before), trimmedBy(t, filled(t), trimPod, after)); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func elsewhere[T interface {
	metav1.Object
	DeepCopy() T
}](object T) T {
	moved := object.DeepCopy()
	moved.SetNamespace("elsewhere")
	moved.SetOwnerReferences(nil)
	return moved
}
