// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package hostcluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

const shop = "shop"

func TestHeadlessServicesAreKnownOrSaidToBe(t *testing.T) {
	host := fake.NewClientset(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: shop, Labels: map[string]string{"a": "b"}},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "db"}}})
	services, err := NewServices(host)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(when, name string, exists, isKnown bool) {
		t.Helper()
		service, known := services.Service(t.Context(), shop, name)
		if (service != nil) != exists || known != isKnown {
			t.Errorf("%s, Service %s: got %v, known %t, want that it exists %t, known %t", when, name, service, known, exists, isKnown)
		}
	}
	expect("before the first list", "db", false, false)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go services.informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), services.informer.HasSynced) {
		t.Fatal("the Services were not listed")
	}
	expect("after the first list", "db", true, true)
	expect("after the first list", "absent", false, true)
	if kept, _, _ := services.informer.GetStore().GetByKey(shop + "/db"); kept == nil || len(kept.(*corev1.Service).Labels) > 0 ||
		kept.(*corev1.Service).Spec.Selector["app"] != "db" {
		t.Errorf("got %+v in the cache, want a Service with its name and selector only", kept)
	}

	_, err = host.CoreV1().Services(shop).Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "new"}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	expect("just after it was created", "new", true, true)
	before := len(host.Actions())
	expect("later", "new", true, true)
	if asked := host.Actions()[before:]; len(asked) > 0 {
		t.Errorf("asked the host: %v, want no live read for a headless Service", asked)
	}
}

func TestAServiceThatIsNotHeadlessIsFound(t *testing.T) {
	const name = "db"
	host := fake.NewClientset()
	services, err := NewServices(host)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go services.informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), services.informer.HasSynced) {
		t.Fatal("the Services were not listed")
	}
	host.PrependReactor("list", "services", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if asked := action.(clienttesting.ListAction).GetListRestrictions().Fields.String(); asked != "metadata.name="+name {
			t.Errorf("listed Services with %q, want only the one of the name", asked)
		}
		return true, &corev1.ServiceList{
			Items: []corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.7"}}}}, nil
	})
	if service, known := services.Service(t.Context(), shop, name); !known || service == nil || service.Spec.ClusterIP != "10.0.0.7" {
		t.Errorf("got %v, known %t, want the Service with its cluster IP", service, known)
	}
	host.PrependReactor("list", "services",
		func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
	if service, known := services.Service(t.Context(), shop, name); known {
		t.Errorf("the host refuses: got %v, want that nothing is known", service)
	}
}

func TestAHugeSelectorIsNotKept(t *testing.T) {
	service := &corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": strings.Repeat("a", mostOfSelector)}}}
	kept, err := nameAndSelector(service)
	if err != nil || kept.(*corev1.Service).Spec.Selector != nil {
		t.Errorf("got %v, error %v, want a Service without a selector", kept, err)
	}
}
