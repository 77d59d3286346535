// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	v1 "statefulset.dev/api/apps/v1"
)

// hostPatience limits the time in which the host cluster is asked for the UID of a set.
const hostPatience = 10 * time.Second

// Host is the cluster with the objects of sets.
type Host interface {
	// OwnerUID is the UID of the set in the owner references of its objects. It is empty if the set
	// has none.
	OwnerUID(ctx context.Context, namespace, name string) (types.UID, error)
	// Orphan removes the set from the owner references of its objects, so that the garbage
	// collector keeps them when the set is gone.
	Orphan(ctx context.Context, namespace, name string) error
}

// Set is a damaged set.
type Set struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Key is the etcd key whose value cannot be read.
	Key string `json:"key"`
	// UID is the known UID of the set; see standin.go for its source.
	UID types.UID `json:"uid"`
	// Cause is the reason why the value cannot be read.
	Cause string `json:"cause"`
	// Since is when this process first read the damaged value.
	Since time.Time `json:"since"`
}

// Sets are the damaged sets that this process has found.
type Sets struct {
	host Host
	// lastKnown returns the set in the watch cache.
	lastKnown atomic.Pointer[func(namespace, name string) *v1.StatefulSet]

	count    atomic.Int64
	mu       sync.Mutex
	sets     map[string]*known
	observer func(count int)
}

// known is a damaged set and its stand-in.
type known struct {
	Set
	standIn *v1.StatefulSet
}

// NewSets returns an empty Sets. Without a host, the objects of a set are unknown, and are not
// orphaned.
func NewSets(host Host) *Sets {
	return &Sets{host: host, sets: map[string]*known{}}
}

// Count is the number of damaged sets.
func (s *Sets) Count() int { return int(s.count.Load()) }

// Observe calls f with the count, now and after each change.
func (s *Sets) Observe(f func(count int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observer = f
	s.recount()
}

// recount must be called with the lock held.
func (s *Sets) recount() {
	s.count.Store(int64(len(s.sets)))
	if s.observer != nil {
		s.observer(len(s.sets))
	}
}

// List returns all damaged sets, by key.
func (s *Sets) List() []Set {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Set, 0, len(s.sets))
	for _, set := range s.sets {
		all = append(all, set.Set)
	}
	slices.SortFunc(all, func(a, b Set) int { return cmp.Compare(a.Key, b.Key) })
	return all
}

// cause is the reason why the set of a stand-in cannot be read.
func (s *Sets) cause(standIn *v1.StatefulSet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, set := range s.sets {
		if set.Namespace == standIn.Namespace && set.Name == standIn.Name {
			return errors.New(set.Cause)
		}
	}
	return errors.New("it could not be read at the last attempt of this server; if it can be read now, restart the server")
}

// readable is called for every value that can be read, so it must be cheap while no set is damaged.
func (s *Sets) readable(key string) {
	if s.count.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if set, ok := s.sets[key]; ok {
		delete(s.sets, key)
		s.recount()
		klog.Background().Info("Damaged StatefulSet can be read again", "set", klog.KRef(set.Namespace, set.Name), "key", key)
	}
}

// gone removes a set whose value was deleted.
func (s *Sets) gone(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, set := range s.sets {
		if set.Namespace == namespace && set.Name == name {
			delete(s.sets, key)
		}
	}
	s.recount()
}

// standIn returns a stand-in for a value that cannot be read. It fails if the UID cannot be
// determined now.
func (s *Sets) standIn(key string, value []byte, cause error) (*v1.StatefulSet, error) {
	namespace, name, err := namesOf(key)
	if err != nil {
		return nil, &unreadable{key: key, cause: cause}
	}
	s.mu.Lock()
	met, ok := s.sets[key]
	s.mu.Unlock()
	if ok && met.Cause == cause.Error() {
		return met.standIn.DeepCopy(), nil
	}

	meta, err := s.identify(namespace, name, value)
	if err != nil {
		return nil, &unreadable{key: key, cause: err}
	}
	set := newStandIn(meta, message(namespace, name, key, cause))
	s.mu.Lock()
	s.sets[key] = &known{Set{namespace, name, key, meta.UID, cause.Error(), time.Now()}, set}
	s.recount()
	s.mu.Unlock()
	klog.Background().Error(cause, "Stored StatefulSet is damaged; the controller does not change its pods; see docs/repair.md",
		"set", klog.KRef(namespace, name), "key", key, "UID", meta.UID)
	return set.DeepCopy(), nil
}
