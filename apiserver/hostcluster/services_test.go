// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

const shop = "shop"

func TestHeadlessServicesAreKnownOrSaidToBe(t *testing.T) {
	host := fake.NewClientset(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: shop, Labels: map[string]string{"a": "b"}}})
	services, err := NewServices(host)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(when, name string, want bool) {
		t.Helper()
		if got := services.Headless(t.Context(), shop, name); got != want {
			t.Errorf("%s, Service %s: got %t, want %t", when, name, got, want)
		}
	}
	expect("before the first list", "absent", true)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go services.informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), services.informer.HasSynced) {
		t.Fatal("the Services were not listed")
	}
	expect("after the first list", "db", true)
	expect("after the first list", "absent", false)
	if kept, _, _ := services.informer.GetStore().GetByKey(shop + "/db"); kept == nil || len(kept.(*corev1.Service).Labels) > 0 {
		t.Errorf("got %+v in the cache, want a Service with its name only", kept)
	}

	_, err = host.CoreV1().Services(shop).Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expect("just after it was created", "new", true)
	for _, action := range host.Actions() {
		if action.GetVerb() == "get" {
			t.Errorf("asked the host: %v, want no live read", action)
		}
	}
}
