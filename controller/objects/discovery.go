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

// The host is asked again for a kind that it does not have after a pause that doubles from the shortest to
// the longest. Each is up to a fifth longer, so that kinds are not asked for all at once.
const (
	shortestDiscovery    = 15 * time.Second
	longestDiscovery     = time.Minute
	mostOfDiscoveryNoise = 0.2
)

// run finds the kind in the host, and lets its watches begin, or ends with the context.
func (k *kind) run(ctx context.Context) {
	pause := shortestDiscovery
	for ctx.Err() == nil {
		resource, err := k.discover(ctx)
		if err == nil {
			k.isCalled(resource)
			return
		}
		k.isMissing(err)
		if hurried := k.pause(ctx, pause); hurried {
			pause = shortestDiscovery
		} else {
			pause = min(2*pause, longestDiscovery)
		}
	}
}

// hurry has a kind that the host does not have asked for soon: a set that describes it was written, which
// a host that has the kind must have let happen.
func (k *kind) hurry() {
	select {
	case k.hurried <- struct{}{}:
	default: // it is hurried already
	}
}

// pause waits for a time, or for the shortest pause if the kind is hurried meanwhile.
func (k *kind) pause(ctx context.Context, pause time.Duration) (hurried bool) {
	shortest := k.watcher.config.Clock.NewTimer(wait.Jitter(shortestDiscovery, mostOfDiscoveryNoise))
	defer shortest.Stop()
	whole := k.watcher.config.Clock.NewTimer(wait.Jitter(pause, mostOfDiscoveryNoise))
	defer whole.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-whole.C():
		return false
	case <-k.hurried:
	}
	select {
	case <-ctx.Done():
	case <-whole.C():
	case <-shortest.C():
	}
	return true
}

// discover asks the host what it calls the kind.
func (k *kind) discover(ctx context.Context) (string, error) {
	group := schema.GroupResource{Group: k.gvk.Group, Resource: strings.ToLower(k.gvk.Kind)}
	list, err := discovery.ToServerResourcesInterfaceWithContext(k.watcher.config.Discovery).ServerResourcesForGroupVersionWithContext(ctx,
		k.gvk.GroupVersion().String())
	if err != nil {
		return "", fmt.Errorf("asking for %s: %w", k.gvk.GroupKind(), err)
	}
	at := slices.IndexFunc(list.APIResources,
		func(r metav1.APIResource) bool { return r.Kind == k.gvk.Kind && !strings.Contains(r.Name, "/") })
	switch {
	case at < 0:
		return "", apierrors.NewNotFound(group, k.gvk.Version)
	case !list.APIResources[at].Namespaced:
		return "", apierrors.NewForbidden(group, "", fmt.Errorf("%s are in no namespace", list.APIResources[at].Name))
	default:
		return list.APIResources[at].Name, nil
	}
}
