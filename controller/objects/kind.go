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

// kind is a kind of objects that sets describe. The controller watches it once in all namespaces.
// If the controller creates objects only in some namespaces, it watches the kind once in each of
// them in which a set needs it.
type kind struct {
	watcher *Watcher
	gvk     schema.GroupVersionKind
	// ctx is the context of everything that runs for the kind, and stop ends it.
	ctx  context.Context //nolint:containedctx // watches begin later, and end with the kind
	stop func()
	// discoveryRequested has an entry if a set that describes objects of the kind has changed.
	discoveryRequested chan struct{}
	// found is closed when the resource name of the kind is known.
	found chan struct{}
	// watches are by namespace. The lock of kinds guards them.
	watches map[string]*namespaceWatch

	mu sync.Mutex
	// resource is the resource name of the kind, empty until it is known.
	resource string
	// refused says why the cluster does not have the kind. It is empty if the cluster has it, or if
	// that is not known yet.
	refused string
}

func newKind(ctx context.Context, w *Watcher, gvk schema.GroupVersionKind) *kind {
	ctx, stop := context.WithCancel(ctx)
	return &kind{watcher: w, gvk: gvk, ctx: ctx, stop: stop, discoveryRequested: make(chan struct{}, 1), found: make(chan struct{}),
		watches: map[string]*namespaceWatch{}}
}

// setResource records the resource name of the kind, and lets its watches begin.
func (k *kind) setResource(resource string) {
	k.mu.Lock()
	k.resource, k.refused = resource, ""
	k.mu.Unlock()
	close(k.found)
}

// recordMissing records that the cluster does not have the kind, if an error says so.
func (k *kind) recordMissing(err error) {
	if noteUnwatchable(err, &k.mu, &k.refused) {
		k.watcher.wake(k.gvk.GroupKind(), metav1.NamespaceAll)
	}
}

// refusal says why the cluster does not have the kind. It is empty if the cluster has it, or if
// that is not known yet.
func (k *kind) refusal() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.refused
}

// noteUnwatchable records what a response of the cluster says about watching, and reports whether
// that has changed.
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

// unwatchable is what the response of the cluster says about objects that cannot be watched, empty
// if they can. An unreachable cluster says nothing.
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

// gvr is the resource of a version of the kind, and false if its name is not known.
func (k *kind) gvr(version string) (schema.GroupVersionResource, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return schema.GroupVersionResource{Group: k.gvk.Group, Version: version, Resource: k.resource}, k.resource != ""
}

// about is the client for the metadata of objects of a namespace.
func (k *kind) about(namespace string) (metadata.ResourceInterface, bool) {
	at, ok := k.gvr(k.gvk.Version)
	return k.watcher.config.Clients.Metadata.Resource(at).Namespace(namespace), ok
}
