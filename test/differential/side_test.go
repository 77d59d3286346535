//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// side is one of the two namespaces of a scenario, and what has been seen in it.
type side struct {
	namespace string
	sets      schema.GroupVersionResource
	client    dynamic.Interface
	warnings  *warnings
	kubelet   *kubelet
	// remembered are the values that the scenario has given a name.
	remembered map[string]string

	mu sync.Mutex
	// live are the objects that exist, by kind and name.
	live map[string]map[string]*unstructured.Unstructured
	log  []change
	// names say what an object with a UID is called: its kind and name, and how many
	// of that name there have been.
	names  map[string]string
	counts map[string]int
	// stirred is when anything but an event was last seen to change; woken is closed
	// at the next change.
	stirred time.Time
	woken   chan struct{}
}

// change is something that was seen to happen to an object.
type change struct {
	kind, name string
	// verb is what became of the object: created, changed, deleting or gone.
	verb    string
	version int64
	object  *unstructured.Unstructured
}

const (
	created  = "created"
	changed  = "changed"
	deleting = "deleting"
	gone     = "gone"
)

func newSide(l *lab, namespace string, resource schema.GroupVersionResource) (*side, error) {
	s := &side{namespace: namespace, sets: resource, warnings: &warnings{}, remembered: map[string]string{},
		live: map[string]map[string]*unstructured.Unstructured{}, names: map[string]string{}, counts: map[string]int{},
		stirred: time.Now(), woken: make(chan struct{})}
	config := rest.CopyConfig(l.Config)
	config.WarningHandlerWithContext = s.warnings
	var err error
	if s.client, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("creating a client: %w", err)
	}
	s.kubelet = &kubelet{side: s, ends: true, seen: map[string]bool{}}
	return s, nil
}

// api is the apiVersion of the side's sets.
func (s *side) api() string { return s.sets.GroupVersion().String() }

func (s *side) observe(kind string, event watch.EventType, object *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[kind] == nil {
		s.live[kind] = map[string]*unstructured.Unstructured{}
	}
	name := object.GetName()
	before := s.live[kind][name]
	verb := changed
	switch {
	case event == watch.Bookmark:
		return
	case event == watch.Deleted:
		verb = gone
		delete(s.live[kind], name)
	case before == nil:
		verb = created
		s.call(kind, object)
	case before.GetDeletionTimestamp() == nil && object.GetDeletionTimestamp() != nil:
		verb = deleting
	}
	if verb != gone {
		s.live[kind][name] = object
	}
	// Versions of different stores are never compared, so one that is no number is of no consequence.
	version, _ := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	s.log = append(s.log, change{kind, name, verb, version, object})
	if kind != events {
		s.stirred = time.Now()
	}
	s.wakeLocked()
}

// stir makes the silence of the side begin anew: what a command sets off has yet to
// be seen.
func (s *side) stir() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stirred = time.Now()
}

// wake makes those that wait look again.
func (s *side) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakeLocked()
}

func (s *side) wakeLocked() {
	close(s.woken)
	s.woken = make(chan struct{})
}

// call gives a new object the name that its UID stands for in comparisons.
func (s *side) call(kind string, object *unstructured.Unstructured) {
	key := kind + "/" + object.GetName()
	s.counts[key]++
	s.names[string(object.GetUID())] = fmt.Sprintf("%s#%d", key, s.counts[key])
}

// get returns an object as it was last seen, nil if there is none.
func (s *side) get(kind, name string) *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[kind][name]
}

// all returns the objects of a kind, by their names.
func (s *side) all(kind string) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects := slices.Collect(maps.Values(s.live[kind]))
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return objects
}

// until waits until the condition holds; it is asked again after every change.
func (s *side) until(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		woken := s.woken
		s.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// warnings collects what the API server warns of.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code == 299 && text != "" {
		w.texts = append(w.texts, text)
	}
}

// advice are parts of warnings that only ours gives, about sets that both accept. Nearly
// every scenario has a set without its Service.
var advice = []string{"spec.serviceName: namespace ", " is mounted by no container", "terminationGracePeriodSeconds: 0 removes a pod"}

// take returns what the warnings since it was last called are about. They begin with
// the path of a field; the words are each server's own.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var subjects []string
	for _, text := range w.texts {
		if slices.ContainsFunc(advice, func(part string) bool { return strings.Contains(text, part) }) {
			continue
		}
		subject, _, _ := strings.Cut(text, ": ")
		subjects = append(subjects, subject)
	}
	w.texts = nil
	slices.Sort(subjects)
	return subjects
}
