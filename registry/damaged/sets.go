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

// hostPatience bounds the question to the host under which UID it knows a set.
const hostPatience = 10 * time.Second

// Host is the cluster that holds what belongs to a set.
type Host interface {
	// OwnerUID is the UID of the set in the owner references of what belongs to it;
	// empty if nothing does.
	OwnerUID(ctx context.Context, namespace, name string) (types.UID, error)
	// Orphan takes the set out of the owner references of what belongs to it, so that
	// the garbage collector leaves it alone when the set is gone.
	Orphan(ctx context.Context, namespace, name string) error
}

// Set is a damaged set.
type Set struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Key is the etcd key whose value cannot be read.
	Key string `json:"key"`
	// UID is what the set is known by; see standin.go for where it comes from.
	UID types.UID `json:"uid"`
	// Cause says why the value cannot be read.
	Cause string `json:"cause"`
	// Since is when this process met it first.
	Since time.Time `json:"since"`
}

// Sets are the damaged sets that this process has met.
type Sets struct {
	host Host
	// lastKnown returns the set that the watch cache holds.
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

// NewSets is empty. Without a host, nothing is known of what belongs to a set, and
// nothing is orphaned.
func NewSets(host Host) *Sets {
	return &Sets{host: host, sets: map[string]*known{}}
}

// Count is how many there are.
func (s *Sets) Count() int { return int(s.count.Load()) }

// Observe calls f with the count, now and whenever it changes.
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

// List are all of them, by key.
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

// cause is why the set that a stand-in stands for cannot be read.
func (s *Sets) cause(standIn *v1.StatefulSet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, set := range s.sets {
		if set.Namespace == standIn.Namespace && set.Name == standIn.Name {
			return errors.New(set.Cause)
		}
	}
	return errors.New("it could not be read when this server saw it last; if it can be read now, restart the server")
}

// readable is called for every value that can be read, so it must cost nothing as
// long as none is damaged.
func (s *Sets) readable(key string) {
	if s.count.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if set, ok := s.sets[key]; ok {
		delete(s.sets, key)
		s.recount()
		klog.Background().Info("A damaged StatefulSet can be read again", "set", klog.KRef(set.Namespace, set.Name), "key", key)
	}
}

// gone forgets a set whose value was deleted.
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

// standIn is what takes the place of a value that cannot be read. It fails if nobody
// can be asked for the UID now.
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
	klog.Background().Error(cause, "A stored StatefulSet is damaged; nothing is done to its pods; see docs/repair.md",
		"set", klog.KRef(namespace, name), "key", key, "UID", meta.UID)
	return set.DeepCopy(), nil
}
