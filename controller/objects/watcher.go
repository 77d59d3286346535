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

// Clients reach objects of any kind in the host.
type Clients struct {
	Dynamic  dynamic.Interface
	Metadata metadata.Interface
}

// NewClients returns clients of the host that suit a controller.
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
	// Kinds are the kinds of objects that sets describe, each as its group and kind in one text.
	Kinds() []string
	// Describing are the sets that describe objects of a kind.
	Describing(kind string) []*v1.StatefulSet
}

// Config is what a watcher is made of.
type Config struct {
	// Clients reach the objects; without them, sets that describe some wait.
	Clients *Clients
	// Namespaces are those in which objects are watched; nil stands for all.
	Namespaces identity.ObjectNamespaces
	// Discovery asks the host what it calls a kind.
	Discovery discovery.DiscoveryInterface
	Clock     clock.WithTicker
	Sets      Sets
	// MemoryOf is what is remembered of a set, nil if nothing is.
	MemoryOf func(set cache.ObjectName) *Memory
	// Wake has sets synced.
	Wake func(sets []cache.ObjectName)
}

// Watcher watches the kinds of objects that templates of sets describe, each from when a
// set needs it until none does any more, and at most identity.MostObjectKinds at a time. If the controller makes
// objects only in some namespaces, at most identity.MostObjectNamespaces, each kind is watched in those of them
// that have such a set. Nothing waits for them but sets that have such templates.
type Watcher struct {
	config Config

	mu      sync.Mutex
	watched map[schema.GroupKind]*kind
	// crowded is true if a kind was refused because as many are watched as may be.
	crowded bool
	// first are the kinds that come first if sets describe more than may be watched, by their names, nil
	// if that has to be determined.
	first map[string]bool
	// ctx is that of the term, nil before it runs, and running what runs in it.
	ctx     context.Context //nolint:containedctx // what is watched ends with the term
	running sync.WaitGroup
	tended  bool
}

// NewWatcher returns a watcher that watches nothing before Begin.
func NewWatcher(config Config) *Watcher {
	return &Watcher{config: config, watched: map[schema.GroupKind]*kind{}}
}

// Begin lets kinds be watched until the context ends, and returns what waits for the end.
func (w *Watcher) Begin(ctx context.Context) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ctx = ctx
	return w.running.Wait
}

// Observe completes a world with the objects that the set's templates describe, and removed ones
// have described.
func (w *Watcher) Observe(ctx context.Context, memory *Memory, world *plan.World) {
	kinds := identity.ObjectKinds(world.Set)
	changed := memory.observes(world.Set, kinds)
	if len(kinds) == 0 {
		return
	}
	world.Objects, world.Kinds = map[identity.ObjectKey]*plan.Object{}, map[schema.GroupKind]plan.Kind{}
	for _, gvk := range kinds {
		watched, refused := w.of(gvk, world.Set.Namespace)
		if watched == nil {
			world.Kinds[gvk.GroupKind()] = plan.Kind{Refused: refused}
			continue
		}
		if changed {
			watched.kind.hurry()
		}
		if world.Kinds[gvk.GroupKind()] = watched.state(memory); !world.Kinds[gvk.GroupKind()].Known {
			continue
		}
		// The cache is read last: what has been read from the host must not be missing from it.
		memory.expectTaken(watched, world)
		w.readTaken(ctx, memory, watched, world)
		for _, object := range watched.ofSet(cache.MetaObjectToName(world.Set)) {
			world.Objects[watched.kind.key(object)] = w.seen(memory, world.Set, object)
		}
	}
	memory.showDeleted(world)
}

// seen is what the planner knows of an object.
func (w *Watcher) seen(memory *Memory, set *v1.StatefulSet, object *tracked) *plan.Object {
	shown := &plan.Object{ObjectMeta: object.ObjectMeta, OwnerLives: w.ownerLives(set, object)}
	memory.judge(object, shown)
	shown.Outputs, shown.Differs, shown.Compared = memory.outputsOf(object)
	return shown
}

// ownerLives reports whether another set that there is says that an object is its.
func (w *Watcher) ownerLives(set *v1.StatefulSet, object *tracked) bool {
	owner := object.Annotations[v1.OwnerAnnotation]
	name, _, _ := strings.Cut(owner, "/")
	other, exists := w.config.Sets.Get(set.Namespace, name)
	return exists && other.UID != set.UID && identity.OwnerMark(other) == owner
}

// Place is where objects of a kind are in a namespace of the host.
type Place struct {
	Objects  dynamic.ResourceInterface
	Metadata metadata.ResourceInterface
}

// Place is where objects of a kind are written, and false if they cannot be yet: the kind is not watched, or the
// host has not said what it calls it.
func (w *Watcher) Place(gvk schema.GroupVersionKind, namespace string) (Place, bool) {
	watched, _ := w.of(gvk, namespace)
	if watched == nil {
		return Place{}, false
	}
	at, ok := watched.kind.at(gvk.Version)
	if !ok {
		return Place{}, false
	}
	about, ok := watched.kind.about(namespace)
	return Place{Objects: w.config.Clients.Dynamic.Resource(at).Namespace(namespace), Metadata: about}, ok
}

// Excluded says why the objects of a set are not watched whose namespace the operator has not listed, and what
// brings them back.
func Excluded(listed identity.ObjectNamespaces, namespace string) string {
	return listed.Excluded(namespace) + "; what the set has stays; to have its objects managed, list the namespace there and " +
		"bind ClusterRole statefulset-controller-objects in it, or remove the templates"
}
