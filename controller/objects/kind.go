// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// kind is a kind of objects that sets describe. It is watched once in all namespaces or, if the controller makes
// objects only in some, once in each of them in which a set needs it.
type kind struct {
	watcher *Watcher
	gvk     schema.GroupVersionKind
	// ctx is that of all that runs for the kind, and stop ends it.
	ctx  context.Context //nolint:containedctx // watches begin later, and end with the kind
	stop func()
	// hurried has an entry if a set has changed that describes objects of the kind.
	hurried chan struct{}
	// found is closed when the host has said what it calls the kind.
	found chan struct{}
	// watches are by namespace. The lock of kinds guards them.
	watches map[string]*namespaceWatch

	mu sync.Mutex
	// resource is what the host calls the kind, empty until it has been asked.
	resource string
	// refused says why the host does not have the kind, empty if it has, or that is not known yet.
	refused string
}

func newKind(ctx context.Context, w *Watcher, gvk schema.GroupVersionKind) *kind {
	ctx, stop := context.WithCancel(ctx)
	return &kind{watcher: w, gvk: gvk, ctx: ctx, stop: stop, hurried: make(chan struct{}, 1), found: make(chan struct{}),
		watches: map[string]*namespaceWatch{}}
}

// isCalled notes what the host calls the kind, and lets its watches begin.
func (k *kind) isCalled(resource string) {
	k.mu.Lock()
	k.resource, k.refused = resource, ""
	k.mu.Unlock()
	close(k.found)
}

// isMissing notes that the host does not have the kind, if that is what an error says.
func (k *kind) isMissing(err error) {
	if noteUnwatchable(err, &k.mu, &k.refused) {
		k.watcher.wake(k.gvk.GroupKind(), metav1.NamespaceAll)
	}
}

// lacks says why the host does not have the kind, empty if it has, or that is not known yet.
func (k *kind) lacks() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.refused
}

// noteUnwatchable keeps what an answer of the host says about watching, and reports whether that has changed.
func noteUnwatchable(err error, mu sync.Locker, refused *string) (changed bool) {
	now, says := unwatchable(err)
	if !says {
		return false
	}
	mu.Lock()
	defer mu.Unlock()
	changed = *refused != now
	*refused = now
	return changed
}

// unwatchable is what the answer of the host says about objects that cannot be watched, empty if they can. That the host
// cannot be reached says nothing.
func unwatchable(err error) (refused string, says bool) {
	switch {
	case err == nil:
		return "", true
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err), apierrors.IsUnauthorized(err):
		return plan.Cause(err), true
	default:
		return "", false
	}
}

func (k *kind) key(object metav1.Object) identity.ObjectKey {
	return identity.ObjectKey{Group: k.gvk.Group, Kind: k.gvk.Kind, Name: object.GetName()}
}

// at is where objects are written in a version of the kind, and false if the host does not have
// the kind.
func (k *kind) at(version string) (schema.GroupVersionResource, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return schema.GroupVersionResource{Group: k.gvk.Group, Version: version, Resource: k.resource}, k.resource != ""
}

// about reaches the metadata of objects of a namespace.
func (k *kind) about(namespace string) (metadata.ResourceInterface, bool) {
	at, ok := k.at(k.gvk.Version)
	return k.watcher.config.Clients.Metadata.Resource(at).Namespace(namespace), ok
}
