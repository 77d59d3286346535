// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/identity"
)

const configResource resource = "configmaps"

// configKind is a row for one more kind: config maps with a label, of which the
// controller keeps the metadata only.
func configKind(host *fake.Clientset) kind {
	return kind{
		resource: configResource,
		noun:     "config map",
		newInformer: func() cache.SharedIndexInformer {
			return coreinformers.NewFilteredConfigMapInformer(host, metav1.NamespaceAll, 0, cache.Indexers{}, hostread.SelectLabel("app"))
		},
		selector:   "app",
		page:       100,
		controlled: true,
		trim: trimmed(func(_ view, config *corev1.ConfigMap) any {
			return &corev1.ConfigMap{ObjectMeta: hostread.TrimMeta(&config.ObjectMeta)}
		}),
		concerns: func(view, metav1.Object) []*v1.StatefulSet { return nil },
		changed: differing(func(before, after *corev1.ConfigMap) bool {
			return hostread.MetaChanged(before.ObjectMeta, after.ObjectMeta)
		}),
		endpoint: newEndpoint[*corev1.ConfigMap, *corev1.ConfigMapList](host.CoreV1().ConfigMaps),
	}
}

// newConfig is a config map that the set controls.
func newConfig(set *v1.StatefulSet, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: set.Namespace, Name: set.Name + "-conf", UID: "conf-uid", ResourceVersion: version,
		Labels: set.Spec.Selector.MatchLabels, OwnerReferences: []metav1.OwnerReference{identity.Owner(set)},
	}, Data: map[string]string{"key": "long"}}
}

// newConfigTerm is a term that knows one more kind and syncs no set.
func newConfigTerm(t *testing.T, set *v1.StatefulSet) (*term, *fake.Clientset) {
	t.Helper()
	host := fake.NewClientset()
	config := Config{Options: NewOptions(), Host: host, Sets: setsfake.NewSimpleClientset(set), Identity: "test"}
	if err := config.complete(); err != nil {
		t.Fatalf("completing configuration: %v", err)
	}
	config.ConcurrentSyncs = 0
	gauges, err := newGauges(nil)
	if err != nil {
		t.Fatal(err)
	}
	return newTerm(config, append(watchedKinds(host, config.Sets), configKind(host)), gauges, func() error { return nil }), host
}

// woken takes from the queue which sets are to be synced.
func woken(term *term) []string {
	var names []string
	for range term.queue.Len() {
		key, _ := term.queue.Get()
		names = append(names, key.Name)
		term.queue.Done(key)
	}
	return names
}

func TestAnotherKindIsWatchedOnceItHasARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := newSet("web")
		term, host := newConfigTerm(t, set)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); term.run(ctx) }()
		t.Cleanup(func() { cancel(); <-done })
		synctest.Wait()
		if err := term.ready(); err != nil {
			t.Fatalf("got %v, want the caches filled", err)
		}
		woken(term)

		configs := host.CoreV1().ConfigMaps(set.Namespace)
		other := newConfig(set, "2")
		other.Data = nil
		renamed := newConfig(set, "3")
		renamed.Labels = map[string]string{"app": "db"}
		for _, step := range []struct {
			sentence string
			do       func() error
			want     []string
		}{
			{"one is created", func() error { _, err := configs.Create(ctx, newConfig(set, "1"), metav1.CreateOptions{}); return err },
				[]string{"web"}},
			{"what is left out of it changes", func() error { _, err := configs.Update(ctx, other, metav1.UpdateOptions{}); return err }, nil},
			{"what is kept of it changes", func() error { _, err := configs.Update(ctx, renamed, metav1.UpdateOptions{}); return err },
				[]string{"web"}},
			{"it is deleted", func() error { return configs.Delete(ctx, renamed.Name, metav1.DeleteOptions{}) }, []string{"web"}},
		} {
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.sentence, err)
			}
			synctest.Wait()
			if got := woken(term); !slices.Equal(got, step.want) {
				t.Errorf("%s: got sets %v woken, want %v", step.sentence, got, step.want)
			}
			if kept, ok := get[*corev1.ConfigMap](term.view, configResource, set.Namespace, renamed.Name); ok && kept.Data != nil {
				t.Errorf("%s: got data %v in the cache, want none", step.sentence, kept.Data)
			}
		}
	})
}

func TestAnotherKindsWritesAreWaitedForOnceItHasARow(t *testing.T) {
	set := newSet("web")
	term, host := newConfigTerm(t, set)
	t.Cleanup(term.queue.ShutDown)
	term.view = newView(term.kinds)
	if err := term.view.put(setsResource, set); err != nil {
		t.Fatal(err)
	}
	host.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, newConfig(set, "121"), nil
	})
	key := cache.MetaObjectToName(set)
	e := &execution{term: term, set: set, key: key}
	what := subject{kind: "config map", name: set.Name + "-conf"}
	for _, step := range []struct {
		sentence  string
		write     func() error
		thenShown func() error
	}{
		{"a create",
			func() error { return e.add(t.Context(), configResource, what, newConfig(set, "120")) },
			func() error { return term.view.put(configResource, newConfig(set, "120")) }},
		{"a change",
			func() error {
				return e.change(t.Context(), configResource, what, targetOf(newConfig(set, "120")), change{labels: map[string]*string{"a": new("b")}})
			},
			func() error { return term.view.put(configResource, newConfig(set, "121")) }},
		{"a removal",
			func() error { return e.remove(t.Context(), configResource, what, targetOf(newConfig(set, "121"))) },
			func() error { return term.view[configResource].Delete(newConfig(set, "122")) }},
	} {
		if err := step.write(); err != nil {
			t.Fatalf("%s: %v", step.sentence, err)
		}
		if got, want := term.states.getOrCreate(key).unseen(term.view), []resource{configResource}; !slices.Equal(got, want) ||
			!term.states.getOrCreate(key).awaits() {
			t.Errorf("%s: got %v unseen and awaited %t, want %v and true", step.sentence, got, term.states.getOrCreate(key).awaits(), want)
		}
		if err := step.thenShown(); err != nil {
			t.Fatalf("%s: %v", step.sentence, err)
		}
		if got := term.states.getOrCreate(key).unseen(term.view); len(got) > 0 {
			t.Errorf("%s that the cache has shown: got %v unseen, want none", step.sentence, got)
		}
	}
}

func TestAPreviewReadsAnotherKindOnceItHasARow(t *testing.T) {
	set, other := newSet("web"), newSet("db")
	term, host := newConfigTerm(t, set)
	t.Cleanup(term.queue.ShutDown)
	for _, config := range []*corev1.ConfigMap{newConfig(set, "1"), newConfig(other, "2")} {
		if err := host.Tracker().Add(config); err != nil {
			t.Fatal(err)
		}
	}
	read := newView(term.kinds)
	if err := (&reader{kinds: term.kinds, set: set, into: read}).read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := read[configResource].ListKeys(), []string{"shop/web-conf"}; !slices.Equal(got, want) {
		t.Errorf("got config maps %v, want %v", got, want)
	}
}
