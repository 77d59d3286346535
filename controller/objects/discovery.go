// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
)

// If the cluster does not have a kind, the controller asks again after a pause that doubles from
// the shortest to the longest. Each pause is up to a fifth longer, so that not all kinds are
// discovered at once.
const (
	shortestDiscovery = 15 * time.Second
	longestDiscovery  = time.Minute
	discoveryJitter   = 0.2
)

// run discovers the kind in the cluster, and lets its watches begin, unless the context ends.
func (k *kind) run(ctx context.Context) {
	pause := shortestDiscovery
	for ctx.Err() == nil {
		resource, err := k.discover(ctx)
		if err == nil {
			k.setResource(resource)
			return
		}
		k.recordMissing(err)
		if hurried := k.pause(ctx, pause); hurried {
			pause = shortestDiscovery
		} else {
			pause = min(2*pause, longestDiscovery)
		}
	}
}

// requestDiscovery makes the watcher discover a missing kind soon: a set that describes it was
// written, which a cluster with the kind must have admitted.
func (k *kind) requestDiscovery() {
	select {
	case k.discoveryRequested <- struct{}{}:
	default: // an entry is there already
	}
}

// pause waits for a time, or only for the shortest pause if discovery is requested meanwhile.
func (k *kind) pause(ctx context.Context, pause time.Duration) (hurried bool) {
	shortest := k.watcher.config.Clock.NewTimer(wait.Jitter(shortestDiscovery, discoveryJitter))
	defer shortest.Stop()
	whole := k.watcher.config.Clock.NewTimer(wait.Jitter(pause, discoveryJitter))
	defer whole.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-whole.C():
		return false
	case <-k.discoveryRequested:
	}
	select {
	case <-ctx.Done():
	case <-whole.C():
	case <-shortest.C():
	}
	return true
}

// discover asks the cluster for the resource name of the kind.
func (k *kind) discover(ctx context.Context) (string, error) {
	group := schema.GroupResource{Group: k.gvk.Group, Resource: strings.ToLower(k.gvk.Kind)}
	list, err := discovery.ToServerResourcesInterfaceWithContext(k.watcher.config.Discovery).ServerResourcesForGroupVersionWithContext(ctx,
		k.gvk.GroupVersion().String())
	if err != nil {
		return "", fmt.Errorf("discovering %s: %w", k.gvk.GroupKind(), err)
	}
	at := slices.IndexFunc(list.APIResources,
		func(r metav1.APIResource) bool { return r.Kind == k.gvk.Kind && !strings.Contains(r.Name, "/") })
	switch {
	case at < 0:
		return "", apierrors.NewNotFound(group, k.gvk.Version)
	case !list.APIResources[at].Namespaced:
		return "", apierrors.NewForbidden(group, "", fmt.Errorf("%s are not namespaced", list.APIResources[at].Name))
	default:
		return list.APIResources[at].Name, nil
	}
}
