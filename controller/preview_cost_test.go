// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/test/heap"
)

// manyMembers is a host with a set of 5,000 members, each with a pod of about 8 KiB and
// a claim. What it answers is encoded before and kept in files, so that the memory that a
// test measures is not the host's.
type manyMembers struct {
	dir   string
	set   *v1.StatefulSet
	pages map[string]string // files by path, limit and continue

	mu    sync.Mutex
	asked map[string]int // lists by their limit
}

func newManyMembers(t *testing.T) *manyMembers {
	t.Helper()
	set := newSet("web", "www")
	set.Spec.Replicas = new(int32(5000))
	host := &manyMembers{dir: t.TempDir(), set: set, pages: map[string]string{}, asked: map[string]int{}}
	var pods []corev1.Pod
	var claims []corev1.PersistentVolumeClaim
	for ordinal := range 5000 {
		pod := newPod(set, ordinal)
		pod.Annotations = map[string]string{"filler": strings.Repeat("x", 8<<10)}
		pods = append(pods, *pod)
		claims = append(claims, *identity.Claims(set, ordinal)[0])
	}
	addPages(t, host, "/api/v1/namespaces/"+set.Namespace+"/pods", pods, podsInAPage,
		func(meta metav1.ListMeta, page []corev1.Pod) kuberuntime.Object {
			return &corev1.PodList{ListMeta: meta, Items: page}
		})
	addPages(t, host, "/api/v1/namespaces/"+set.Namespace+"/persistentvolumeclaims", claims, podsInAPage,
		func(meta metav1.ListMeta, page []corev1.PersistentVolumeClaim) kuberuntime.Object {
			return &corev1.PersistentVolumeClaimList{ListMeta: meta, Items: page}
		})
	addPages(t, host, "/apis/apps/v1/namespaces/"+set.Namespace+"/controllerrevisions", []appsv1.ControllerRevision{
		*newRevision(set, "web-1")}, revisionsInAPage, func(meta metav1.ListMeta, page []appsv1.ControllerRevision) kuberuntime.Object {
		return &appsv1.ControllerRevisionList{ListMeta: meta, Items: page}
	})
	return host
}

func addPages[T any](t *testing.T, host *manyMembers, path string, items []T, size int,
	list func(metav1.ListMeta, []T) kuberuntime.Object) {
	t.Helper()
	version := corev1.SchemeGroupVersion
	if strings.Contains(path, "/apps/") {
		version = appsv1.SchemeGroupVersion
	}
	info, _ := kuberuntime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), kuberuntime.ContentTypeProtobuf)
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, version)
	for from := 0; from < len(items); from += size {
		until, meta := min(from+size, len(items)), metav1.ListMeta{ResourceVersion: "1"}
		if until < len(items) {
			meta.Continue = fmt.Sprint(until)
		}
		encoded, err := kuberuntime.Encode(encoder, list(meta, items[from:until]))
		if err != nil {
			t.Fatalf("encoding a page: %v", err)
		}
		begin := ""
		if from > 0 {
			begin = fmt.Sprint(from)
		}
		file := filepath.Join(host.dir, fmt.Sprint(len(host.pages)))
		if err := os.WriteFile(file, encoded, 0o600); err != nil {
			t.Fatal(err)
		}
		host.pages[fmt.Sprintf("%s %d %s", path, size, begin)] = file
	}
}

func (h *manyMembers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	h.mu.Lock()
	h.asked[query.Get("limit")]++
	h.mu.Unlock()
	page, ok := h.pages[r.URL.Path+" "+query.Get("limit")+" "+query.Get("continue")]
	if !ok {
		http.Error(w, "no such page", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", kuberuntime.ContentTypeProtobuf)
	http.ServeFile(w, r, page)
}

// previewOf is a preview of a host that is served over HTTP.
func previewOf(t *testing.T, host http.Handler) *Preview {
	t.Helper()
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	preview, err := NewPreview(&rest.Config{Host: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return preview
}

// withNewImage is a proposal that replaces every member.
func withNewImage(set *v1.StatefulSet) *v1.StatefulSet {
	set = set.DeepCopy()
	set.Spec.Template.Spec.Containers[0].Image = "changed"
	set.Generation++
	return set
}

func TestThePlanOfManyMembersTakesLittleMemory(t *testing.T) {
	const most = 64 << 20
	host := newManyMembers(t)
	preview, set := previewOf(t, host), withNewImage(host.set)
	began := time.Now()
	peak := heap.Peak(func() {
		shown, err := preview.Proposed(t.Context(), set, nil)
		if err != nil || len(shown.Rounds) < 100 {
			t.Errorf("got %d rounds and error %v, want more than 100", len(shown.Rounds), err)
		}
	})
	t.Logf("the plan of an ordered update of 5,000 members: at the peak %d MiB more, %s", peak>>20, time.Since(began).Round(time.Millisecond))
	if peak > most {
		t.Errorf("memory at the peak: got %d MiB more, want at most %d", peak>>20, most>>20)
	}
	if got := fmt.Sprint(host.asked); got != "map[100:100 20:1]" {
		t.Errorf("lists by their limit: got %s, want 50 of pods and 50 of claims in pages of 100, and one of revisions in pages of 20", got)
	}
}

func TestAPlanEndsWhenItsCallerLeaves(t *testing.T) {
	host := newManyMembers(t)
	preview, set := previewOf(t, host), withNewImage(host.set)
	ctx, leave := context.WithCancel(t.Context())
	var left time.Time
	// The clock is looked at when everything was read, so the caller leaves before the
	// first round. That a plan ends between any two rounds is tested in forecast.
	preview.clock = calling{preview.clock, func() { left = time.Now(); leave() }}
	_, err := preview.Proposed(ctx, set, nil)
	t.Logf("ended %s after the caller had left", time.Since(left).Round(time.Microsecond))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that the context is cancelled", err)
	}
	if !preview.turns.TryAcquire(1) {
		t.Error("the turn of the plan was not given back")
	}
}

// calling is a clock that calls somebody whenever it is looked at.
type calling struct {
	clock.PassiveClock
	call func()
}

func (c calling) Now() time.Time {
	c.call()
	return c.PassiveClock.Now()
}
