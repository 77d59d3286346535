// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

// last is the reason of an event that is sent after all others.
const last = "Last"

// recording gives a term a recorder that writes to its host, and a function that
// returns the events that the host got before the last one.
func recording(t *testing.T, term *term, host *fake.Clientset) (ended func() []corev1.Event) {
	t.Helper()
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: host.CoreV1().Events("")})
	term.recorder = broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: "test"})
	t.Cleanup(broadcaster.Shutdown)
	arrived := make(chan struct{})
	host.PrependReactor("create", "events", func(action clienttesting.Action) (bool, runtime.Object, error) {
		if action.(clienttesting.CreateAction).GetObject().(*corev1.Event).Reason == last {
			close(arrived)
			return true, &corev1.Event{}, nil
		}
		return false, nil, nil
	})
	return func() []corev1.Event {
		term.recorder.Event(&corev1.ObjectReference{Namespace: "shop", Name: "x"}, corev1.EventTypeNormal, last, "")
		<-arrived
		list, err := host.CoreV1().Events(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatalf("listing events: %v", err)
		}
		return list.Items
	}
}

// eventsOf are the events that the host gets when a new set is synced often.
func eventsOf(t *testing.T, set *v1.StatefulSet, syncs int, prepare func(*fake.Clientset)) []corev1.Event {
	t.Helper()
	term, host := newTestTerm(t, set)
	prepare(host)
	ended := recording(t, term, host)
	for range syncs {
		term.states.getOrCreate(cache.MetaObjectToName(set)).ownWrites = ownWrites{} // the caches do not run
		if _, err := term.sync(t.Context(), nil, cache.MetaObjectToName(set)); err != nil && !isStaleRead(err) {
			t.Fatalf("syncing: %v", err)
		}
	}
	return ended()
}

func TestFiveHundredMembersAreTwoEvents(t *testing.T) {
	set := newSet("web", "www")
	set.Spec.PodManagementPolicy, set.Spec.Replicas = v1.ParallelPodManagement, new(int32(500))
	events := eventsOf(t, set, 1, func(*fake.Clientset) {})
	var messages []string
	for _, e := range events {
		messages = append(messages, e.Message)
		about := e.InvolvedObject
		if about.APIVersion != "apps.statefulset.dev/v1" || about.Kind != "StatefulSet" || about.Name != "web" || about.Namespace != "shop" ||
			about.UID != set.UID {
			t.Errorf("the event is about %v, want the set", about)
		}
	}
	slices.Sort(messages)
	want := []string{
		`Created claim "www-web-0", claim "www-web-1", claim "www-web-2", claim "www-web-3", claim "www-web-4", claim "www-web-5", claim "www-web-6", claim "www-web-7", claim "www-web-8", claim "www-web-9" and 490 more of set web`,
		`Created pod "web-0", pod "web-1", pod "web-2", pod "web-3", pod "web-4", pod "web-5", pod "web-6", pod "web-7", pod "web-8", pod "web-9" and 490 more of set web`,
	}
	if !slices.Equal(messages, want) {
		t.Errorf("got events\n%s\nwant\n%s", strings.Join(messages, "\n"), strings.Join(want, "\n"))
	}
}

func TestAQuotaThatRefusesFiveHundredMembersIsOneEvent(t *testing.T) {
	set := newSet("web")
	set.Spec.PodManagementPolicy, set.Spec.Replicas = v1.ParallelPodManagement, new(int32(500))
	events := eventsOf(t, set, 20, func(host *fake.Clientset) {
		host.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, nameOf(action), errors.New("exceeded quota: q"))
		})
	})
	want := `Failed to create pod "web-0" of set web: exceeded quota: q`
	if len(events) != 1 || events[0].Count > 1 || events[0].Message != want {
		t.Errorf("got events %v, want one, told once: %s", events, want)
	}
}

func TestAWarningIsToldOnceAsLongAsItHolds(t *testing.T) {
	known := &setState{}
	warning := []plan.Warning{{Reason: "ConflictingController", Message: "claim www-web-0 has another controller"}}
	var told []int
	for _, warnings := range [][]plan.Warning{warning, warning, nil, warning} {
		known.addEvents(warnings, nil)
		told = append(told, len(known.takeEvents()))
	}
	if want := []int{1, 0, 0, 1}; !slices.Equal(told, want) {
		t.Errorf("got %v events at the looks, want %v", told, want)
	}
}
