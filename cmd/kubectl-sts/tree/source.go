// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/identity"
)

// source watches a set and the objects that belong to it. When a watch breaks, the reflectors of
// client-go restart it with back-off.
type source struct {
	name, namespace string
	stores          map[kind]cache.Store
	controllers     []cache.Controller
	// changed gets a value when the state has changed.
	changed chan struct{}
	// refused ends all watches with a reason.
	refused context.CancelCauseFunc

	mu      sync.Mutex
	last    *v1.StatefulSet
	trouble map[kind]string
}

type kind int

const (
	sets kind = iota
	pods
	claims
	revisions
)

// open gets the set, and prepares the watches of the set and of the objects that its selector
// selects.
func open(ctx context.Context, config *rest.Config, namespace, name string) (*source, error) {
	ours, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating the client for %s: %w", v1.GroupName, err)
	}
	host, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating the client for the cluster: %w", err)
	}
	set, err := ours.AppsV1().StatefulSets(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	s := &source{
		name: name, namespace: namespace, last: set,
		stores: map[kind]cache.Store{}, trouble: map[kind]string{}, changed: make(chan struct{}, 1),
	}
	byName := func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}
	selected := func(options *metav1.ListOptions) {
		options.LabelSelector = metav1.FormatLabelSelector(set.Spec.Selector)
	}
	s.watch(sets, ours.AppsV1().RESTClient(), "statefulsets", &v1.StatefulSet{}, byName)
	s.watch(pods, host.CoreV1().RESTClient(), "pods", &corev1.Pod{}, selected)
	s.watch(revisions, host.AppsV1().RESTClient(), "controllerrevisions", &appsv1.ControllerRevision{}, selected)
	if len(set.Spec.VolumeClaimTemplates) > 0 {
		s.watch(claims, host.CoreV1().RESTClient(), "persistentvolumeclaims", &corev1.PersistentVolumeClaim{}, func(*metav1.ListOptions) {})
	}
	return s, nil
}

func (s *source) watch(of kind, client rest.Interface, resource string, object runtime.Object, restrict func(*metav1.ListOptions)) {
	calls := cache.NewFilteredListWatchFromClient(client, resource, s.namespace, restrict)
	list, watch := calls.ListWithContextFunc, calls.WatchFuncWithContext
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
				found, err := list(ctx, options)
				s.called(of, err)
				return found, err
			},
			WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
				events, err := watch(ctx, options)
				s.called(of, err)
				return events, err
			},
		},
		ObjectType: object,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { s.wake() },
			UpdateFunc: func(any, any) { s.wake() },
			DeleteFunc: func(any) { s.wake() },
		},
	})
	s.stores[of] = store
	s.controllers = append(s.controllers, controller)
}

// run starts the watches, which end with the context. It returns when all of them have synced, or
// with an error if the user is not allowed to watch.
func (s *source) run(ctx context.Context) error {
	// The tree shows errors as trouble, so the reflectors must not log them.
	ctx, cancel := context.WithCancelCause(klog.NewContext(ctx, logr.Discard()))
	s.refused = cancel
	var synced []cache.DoneChecker
	for _, controller := range s.controllers {
		go controller.RunWithContext(ctx)
		synced = append(synced, controller.HasSyncedChecker())
	}
	if !cache.WaitFor(ctx, "", synced...) {
		return context.Cause(ctx)
	}
	return nil
}

// called records the result of a request. A forbidden request ends all watches.
func (s *source) called(of kind, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		delete(s.trouble, of)
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		s.refused(err)
		fallthrough
	default:
		s.trouble[of] = err.Error()
	}
	s.wake()
}

func (s *source) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// state returns the current state.
func (s *source) state() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := state{gone: true}
	for _, object := range s.stores[sets].List() {
		s.last, now.gone = object.(*v1.StatefulSet), false
	}
	now.set = s.last
	for _, object := range s.stores[pods].List() {
		pod := object.(*corev1.Pod)
		if set, _, ok := identity.ParsePodName(pod.Name); ok && set == s.name {
			now.pods = append(now.pods, pod)
		}
	}
	for _, object := range s.stores[revisions].List() {
		if revision := object.(*appsv1.ControllerRevision); belongs(revision, s.last) {
			now.revisions = append(now.revisions, revision)
		}
	}
	if s.stores[claims] != nil {
		for _, object := range s.stores[claims].List() {
			now.claims = append(now.claims, object.(*corev1.PersistentVolumeClaim))
		}
	}
	for _, trouble := range s.trouble {
		now.trouble = trouble
	}
	return now
}
