// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/client-go/tools/cache"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// firstListWait is the maximum time for which a write waits until the kinds of all stored sets are
// known.
const firstListWait = 5 * time.Second

// ObjectKinds tracks the kinds of objects that all stored sets describe, so that no write adds more
// than the controller watches. It follows the sets in the store. A write that adds no kind to its
// set costs nothing.
type ObjectKinds struct {
	mu sync.Mutex
	// listed is closed by list, when the sets are listed for the first time.
	listed chan struct{}
	list   func()
	// seen is the resource version up to which the store has been followed.
	seen   uint64
	stored map[string]storedKinds // by namespace and name, of sets that describe objects
	// sets is the number of sets that describe a kind, and claimed the number of writes in progress
	// that add it.
	sets, claimed map[schema.GroupKind]int
}

// storedKinds are the kinds of a set at a resource version.
type storedKinds struct {
	version uint64
	kinds   []schema.GroupKind
}

var _ cache.ReflectorStore = &ObjectKinds{}

func newObjectKinds() *ObjectKinds {
	listed := make(chan struct{})
	return &ObjectKinds{
		listed: listed, list: sync.OnceFunc(func() { close(listed) }),
		stored: map[string]storedKinds{}, sets: map[schema.GroupKind]int{}, claimed: map[schema.GroupKind]int{},
	}
}

// Add handles a new set in the store.
func (o *ObjectKinds) Add(object any) error { return o.Update(object) }

// Update handles a changed set in the store.
func (o *ObjectKinds) Update(object any) error {
	if set, ok := setOf(object); ok {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.seen = max(o.seen, versionOf(set))
		o.put(set)
	}
	return nil
}

// Delete handles a set that was deleted from the store.
func (o *ObjectKinds) Delete(object any) error {
	if set, ok := setOf(object); ok {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.seen = max(o.seen, versionOf(set))
		if key := keyOf(set); o.stored[key].version <= versionOf(set) {
			o.drop(key)
		}
	}
	return nil
}

// Replace handles the list of all sets in the store at a resource version.
func (o *ObjectKinds) Replace(all []any, version string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return fmt.Errorf("reading resource version %q: %w", version, err)
	}
	o.seen = at
	for key, was := range o.stored {
		if was.version <= at {
			o.drop(key)
		}
	}
	for _, object := range all {
		if set, ok := setOf(object); ok {
			o.put(set)
		}
	}
	o.list()
	return nil
}

// Resync does nothing.
func (*ObjectKinds) Resync() error { return nil }

// wrote handles a set that this server has stored, and that the watch may not have delivered yet.
func (o *ObjectKinds) wrote(set *v1.StatefulSet) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if set.DeletionTimestamp == nil && versionOf(set) > o.seen {
		o.put(set)
	}
}

// put records the kinds of a set, unless a later state of the set is known.
func (o *ObjectKinds) put(set *v1.StatefulSet) {
	key, next := keyOf(set), storedKinds{version: versionOf(set), kinds: kindsOf(set)}
	if o.stored[key].version > next.version {
		return
	}
	o.drop(key)
	if len(next.kinds) == 0 {
		return
	}
	o.stored[key] = next
	for _, kind := range next.kinds {
		o.sets[kind]++
	}
}

func (o *ObjectKinds) drop(key string) {
	for _, kind := range o.stored[key].kinds {
		release(o.sets, kind)
	}
	delete(o.stored, key)
}

func release(counts map[schema.GroupKind]int, kind schema.GroupKind) {
	if counts[kind]--; counts[kind] <= 0 {
		delete(counts, kind)
	}
}

// kindClaim reserves the kinds that a write adds, from its admission until it is stored or
// rejected.
type kindClaim struct {
	of    *ObjectKinds
	kinds []schema.GroupKind
}

// check rejects a set that adds a kind if the maximum is reached. old is nil if the set is new.
func (c *kindClaim) check(ctx context.Context, set, old *v1.StatefulSet) error {
	added := kindsOf(set)
	if old != nil {
		had := kindsOf(old)
		added = slices.DeleteFunc(added, func(kind schema.GroupKind) bool { return slices.Contains(had, kind) })
	}
	c.release() // the store may call check several times
	if len(added) == 0 {
		return nil
	}
	wait, stop := context.WithTimeout(ctx, firstListWait)
	defer stop()
	select {
	case <-c.of.listed:
	case <-wait.Done():
		return apierrors.NewServiceUnavailable(
			"spec.objectTemplates: this server does not know yet which kinds of objects the stored sets describe; try again")
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	used := c.of.used()
	for _, kind := range added {
		if slices.Contains(used, kind) {
			continue
		}
		if len(used) >= identity.MostObjectKinds {
			return tooManyKinds(set, kind, used)
		}
		used = append(used, kind)
	}
	for _, kind := range added {
		c.of.claimed[kind]++
	}
	c.kinds = added
	return nil
}

// release releases the reserved kinds.
func (c *kindClaim) release() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	for _, kind := range c.kinds {
		release(c.of.claimed, kind)
	}
	c.kinds = nil
}

// used are the kinds of stored sets, and of sets that are being written.
func (o *ObjectKinds) used() []schema.GroupKind {
	used := make([]schema.GroupKind, 0, len(o.sets)+len(o.claimed))
	for kind := range o.sets {
		used = append(used, kind)
	}
	for kind := range o.claimed {
		if o.sets[kind] == 0 {
			used = append(used, kind)
		}
	}
	return used
}

func tooManyKinds(set *v1.StatefulSet, kind schema.GroupKind, used []schema.GroupKind) error {
	names := make([]string, len(used))
	for i := range used {
		names[i] = used[i].String()
	}
	slices.Sort(names)
	at := max(0, slices.Index(templateKinds(set), kind))
	path := field.NewPath("spec", "objectTemplates").Index(at).Child("object", "kind")
	return apierrors.NewInvalid(v1.GroupVersionKind().GroupKind(), set.Name, field.ErrorList{field.Invalid(path, kind.String(), fmt.Sprintf(
		"all sets together may describe objects of at most %d kinds; use one of the %d that they describe now, or remove the templates of one: %s",
		identity.MostObjectKinds, len(names), strings.Join(names, ", ")))})
}

// templateKinds are the kinds of the templates of a set, in their order.
func templateKinds(set *v1.StatefulSet) []schema.GroupKind {
	kinds := make([]schema.GroupKind, len(set.Spec.ObjectTemplates))
	for i := range set.Spec.ObjectTemplates {
		one := &v1.StatefulSet{}
		one.Spec.ObjectTemplates = set.Spec.ObjectTemplates[i : i+1]
		if of := kindsOf(one); len(of) > 0 {
			kinds[i] = of[0]
		}
	}
	return kinds
}

func kindsOf(set *v1.StatefulSet) (kinds []schema.GroupKind) {
	for _, kind := range identity.ObjectKinds(set) {
		kinds = append(kinds, kind.GroupKind())
	}
	return kinds
}

// setOf returns the set of an event. An event for several watchers has a wrapper.
func setOf(object any) (*v1.StatefulSet, bool) {
	if shared, is := object.(runtime.CacheableObject); is {
		object = shared.GetObject()
	}
	set, ok := object.(*v1.StatefulSet)
	return set, ok
}

func keyOf(set *v1.StatefulSet) string { return set.Namespace + "/" + set.Name }

// versionOf is the resource version of a set as a number. It is 0 if the set was never stored.
func versionOf(set *v1.StatefulSet) uint64 {
	version, _ := strconv.ParseUint(set.ResourceVersion, 10, 64)
	return version
}

// LimitKinds makes the storage reject writes that add a kind of objects when all stored sets
// together have the maximum number of kinds. follow updates the counts until its context ends.
// Until it runs, such writes are rejected temporarily.
func (s Storage) LimitKinds() (follow func(ctx context.Context)) {
	kinds := newObjectKinds()
	s.StatefulSet.kinds = kinds
	reflector := cache.NewReflectorWithOptions(
		cache.ToListWatcherWithWatchListSemantics(storedSets(s.StatefulSet.Store), listsOnly{}), nil, kinds,
		cache.ReflectorOptions{Name: "object-kinds", TypeDescription: v1.Kind})
	return reflector.RunWithContext
}

// listsOnly makes the reflector list the sets, and not stream them, before it watches them.
type listsOnly struct{}

func (listsOnly) IsWatchListSemanticsUnSupported() bool { return true }

// storedSets reads all sets without a request.
func storedSets(store *genericregistry.Store) *cache.ListWatch {
	options := func(o metav1.ListOptions) *metainternalversion.ListOptions {
		return &metainternalversion.ListOptions{
			ResourceVersion: o.ResourceVersion, ResourceVersionMatch: o.ResourceVersionMatch,
			Limit: o.Limit, Continue: o.Continue, AllowWatchBookmarks: o.AllowWatchBookmarks,
		}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return store.List(ctx, options(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return store.Watch(ctx, options(o))
		},
	}
}

// claim returns the reservation of a write, nil if kinds are not limited.
func (r *REST) claim() *kindClaim {
	if r.kinds == nil {
		return nil
	}
	return &kindClaim{of: r.kinds}
}

// create checks a new set after its admission.
func (c *kindClaim) create(admit rest.ValidateObjectFunc) rest.ValidateObjectFunc {
	if c == nil {
		return admit
	}
	return func(ctx context.Context, obj runtime.Object) error {
		if err := admit(ctx, obj); err != nil {
			return err
		}
		return c.check(ctx, obj.(*v1.StatefulSet), nil)
	}
}

// update checks a changed set after its admission.
func (c *kindClaim) update(admit rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	if c == nil {
		return admit
	}
	return func(ctx context.Context, obj, old runtime.Object) error {
		if err := admit(ctx, obj, old); err != nil {
			return err
		}
		return c.check(ctx, obj.(*v1.StatefulSet), old.(*v1.StatefulSet))
	}
}

// end releases the reservation. A set that was stored is counted before that.
func (c *kindClaim) end(stored runtime.Object, dryRun []string, err error) {
	if c == nil {
		return
	}
	if set, ok := stored.(*v1.StatefulSet); ok && err == nil && !dryrun.IsDryRun(dryRun) {
		c.of.wrote(set)
	}
	c.release()
}
