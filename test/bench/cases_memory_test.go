//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"statefulset.dev/test/bench/measure"
)

func memoryCase() benchCase {
	each := func(what string, limit float64) measure.Result {
		return measure.Result{Measure: what, Unit: "bytes of heap", Better: measure.Less, Goals: []measure.Goal{atMost(limit), beside(builtIn())}}
	}
	return benchCase{
		name: "memory", title: "the server's heap after 3,000 more objects of a kind, garbage collected",
		sides:   []side{ours(), builtIn()},
		results: []measure.Result{each("a set", 8<<10), each("a pod", 3<<9), each("a foreign claim", 200), each("a foreign revision", 200)},
		take:    func(t *turn) samples { return t.memory(t.size(3000)) },
	}
}

// memory measures how much the heap grows with each object. The pods are of one set, so
// that they do not bring sets with them.
func (t *turn) memory(n int) samples {
	got := samples{}
	for _, step := range []struct {
		what string
		make func()
	}{
		{"a foreign claim", func() { t.createForeignClaims(n) }},
		{"a foreign revision", func() { t.createForeignRevisions(n) }},
		{"a pod", func() {
			t.create(set("db", n, parallel))
			t.await(&t.pods.ready, n)
		}},
		{"a set", func() { t.createAll("quiet", n, 0) }},
	} {
		t.settle(t.T)
		before := t.heap()
		step.make()
		t.settle(t.T)
		got[step.what] = max(0, (t.heap()-before)/float64(n))
	}
	return got
}

// heap is how many bytes of heap the side's process uses after it has collected its
// garbage. Twice, because some of it is let go of only then.
func (t *turn) heap() float64 {
	t.Helper()
	server := *t.http
	server.host = "https://127.0.0.1:" + t.process.Port()
	config, err := t.TLS()
	if err != nil {
		t.Fatal(err)
	}
	server.client = &http.Client{Transport: &http.Transport{TLSClientConfig: config}, Timeout: time.Minute}
	defer server.client.CloseIdleConnections()
	for range 2 {
		if _, err := server.get(t.Context(), "/debug/pprof/heap?gc=1"); err != nil {
			t.Fatal(err)
		}
	}
	metrics, err := server.get(t.Context(), "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	heap, err := measure.Metric(string(metrics), "go_memstats_heap_alloc_bytes")
	if err != nil {
		t.Fatal(err)
	}
	return heap
}

// createForeignClaims creates claims that nobody mounts, and for which nobody makes
// volumes: KWOK would take minutes for that.
func (t *turn) createForeignClaims(n int) {
	t.Helper()
	spec := t.decode(set("db", n, withClaim)).VolumeClaimTemplates[0].Spec
	spec.StorageClassName = new("nobody-provisions")
	err := eachOf(t.Context(), n, func(i int) error {
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("upload-%d-a", i), Labels: map[string]string{"app": "shop"}}, Spec: spec}
		_, err := t.host.CoreV1().PersistentVolumeClaims(t.ns).Create(t.Context(), claim, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("creating claims: %v", err)
	}
}

// createForeignRevisions creates revisions of 1 KiB that another controller owns.
func (t *turn) createForeignRevisions(n int) {
	t.Helper()
	data := runtime.RawExtension{Raw: fmt.Appendf(nil, "{\"spec\":%q}", bytes.Repeat([]byte("x"), 1<<10))}
	owner := t.namespaceUID()
	err := eachOf(t.Context(), n, func(i int) error {
		revision := &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("agent-%d", i), Labels: map[string]string{"app": "agent"}}, Data: data, Revision: 1}
		// Nobody must look for an owner that is not there, and collect its garbage.
		revision.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Namespace", Name: t.ns, UID: owner, Controller: new(true)}}
		_, err := t.host.AppsV1().ControllerRevisions(t.ns).Create(t.Context(), revision, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("creating revisions: %v", err)
	}
}
