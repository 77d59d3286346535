// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// Clients are clients for objects of any kind in the host cluster.
type Clients struct {
	Dynamic  dynamic.Interface
	Metadata metadata.Interface
}

// NewClients returns clients for the host cluster that suit a controller.
func NewClients(config *rest.Config) (*Clients, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	about, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building client for the metadata of objects: %w", err)
	}
	whole, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building client for objects: %w", err)
	}
	return &Clients{whole, about}, nil
}

// Sets are the sets that the controller knows.
type Sets interface {
	Get(namespace, name string) (*v1.StatefulSet, bool)
	// Kinds are the kinds of objects that sets describe, each as one text of group and kind.
	Kinds() []string
	// Describing are the sets that describe objects of a kind.
	Describing(kind string) []*v1.StatefulSet
}

// Config configures a watcher.
type Config struct {
	// Clients are the clients for objects. Without them, sets that describe objects wait.
	Clients *Clients
	// Namespaces are the namespaces in which objects are watched; nil stands for all.
	Namespaces identity.ObjectNamespaces
	// Discovery finds the resource name of a kind.
	Discovery discovery.DiscoveryInterface
	Clock     clock.WithTicker
	Sets      Sets
	// MemoryOf returns the memory of a set, nil if there is none.
	MemoryOf func(set cache.ObjectName) *Memory
	// Wake enqueues sets.
	Wake func(sets []cache.ObjectName)
}

// Watcher watches the kinds of objects that templates of sets describe, each from when a set needs
// it until no set does, and at most identity.MostObjectKinds at a time. If the controller creates
// objects only in some namespaces (at most identity.MostObjectNamespaces), it watches each kind in
// those of them that have such a set. Only sets with such templates wait for these watches.
type Watcher struct {
	config Config

	mu      sync.Mutex
	watched map[schema.GroupKind]*kind
	// crowded is true if a kind was refused because the maximum number of kinds is watched.
	crowded bool
	// first are the names of the kinds that come first if sets describe more than may be watched,
	// nil if they are not determined.
	first map[string]bool
	// ctx is the context of the term, nil before it runs; running are the goroutines of the
	// watches.
	ctx              context.Context //nolint:containedctx // watches end with the term
	running          sync.WaitGroup
	isCleanupRunning bool
}

// NewWatcher returns a watcher that watches nothing before Begin.
func NewWatcher(config Config) *Watcher {
	return &Watcher{config: config, watched: map[schema.GroupKind]*kind{}}
}

// Begin allows watches until the context ends, and returns a function that waits until they have
// ended.
func (w *Watcher) Begin(ctx context.Context) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ctx = ctx
	return w.running.Wait
}

// Observe adds to a world the objects that the set's templates describe, and those that removed
// templates described.
func (w *Watcher) Observe(ctx context.Context, memory *Memory, world *plan.World) {
	kinds := identity.ObjectKinds(world.Set)
	changed := memory.resetIfChanged(world.Set, kinds)
	if len(kinds) == 0 {
		return
	}
	world.Objects, world.Kinds = map[identity.ObjectKey]*plan.Object{}, map[schema.GroupKind]plan.Kind{}
	for _, gvk := range kinds {
		watched, refused := w.ensureWatch(gvk, world.Set.Namespace)
		if watched == nil {
			world.Kinds[gvk.GroupKind()] = plan.Kind{Refused: refused}
			continue
		}
		if changed {
			watched.kind.requestDiscovery()
		}
		if world.Kinds[gvk.GroupKind()] = watched.state(memory); !world.Kinds[gvk.GroupKind()].Known {
			continue
		}
		// The cache is read last: it must contain everything that was read from the cluster.
		memory.recordExpectedConflicts(watched, world)
		w.readNameConflicts(ctx, memory, watched, world)
		for _, object := range watched.ofSet(cache.MetaObjectToName(world.Set)) {
			world.Objects[watched.kind.key(object)] = w.seen(memory, world.Set, object)
		}
	}
	memory.markDeleted(world)
}

// seen is what the planner knows about an object.
func (w *Watcher) seen(memory *Memory, set *v1.StatefulSet, object *tracked) *plan.Object {
	shown := &plan.Object{ObjectMeta: object.ObjectMeta, OwnerLives: w.ownerLives(set, object)}
	memory.detectDrift(object, shown)
	shown.Outputs, shown.Differs, shown.Compared = memory.outputsOf(object)
	return shown
}

// ownerLives reports whether another existing set owns an object according to its annotation.
func (w *Watcher) ownerLives(set *v1.StatefulSet, object *tracked) bool {
	owner := object.Annotations[v1.OwnerAnnotation]
	name, _, _ := strings.Cut(owner, "/")
	other, exists := w.config.Sets.Get(set.Namespace, name)
	return exists && other.UID != set.UID && identity.OwnerMark(other) == owner
}

// ObjectClients has the clients for objects of a kind in a namespace.
type ObjectClients struct {
	Objects  dynamic.ResourceInterface
	Metadata metadata.ResourceInterface
}

// ClientsFor returns the clients to write objects of a kind, and false if they cannot be written
// yet: the kind is not watched, or its resource name is not known.
func (w *Watcher) ClientsFor(gvk schema.GroupVersionKind, namespace string) (ObjectClients, bool) {
	watched, _ := w.ensureWatch(gvk, namespace)
	if watched == nil {
		return ObjectClients{}, false
	}
	at, ok := watched.kind.gvr(gvk.Version)
	if !ok {
		return ObjectClients{}, false
	}
	about, ok := watched.kind.about(namespace)
	return ObjectClients{Objects: w.config.Clients.Dynamic.Resource(at).Namespace(namespace), Metadata: about}, ok
}

// Excluded says why the objects of a set are not watched because its namespace is not listed, and
// what the operator can do about it.
func Excluded(listed identity.ObjectNamespaces, namespace string) string {
	return listed.Excluded(namespace) + "; existing objects stay; to manage the objects of this set, list the namespace there and " +
		"bind ClusterRole statefulset-controller-objects in it, or remove the templates"
}
