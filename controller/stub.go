// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"hash/fnv"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/controller/hostread"
)

// stub is what the caches keep of an object that no set can use: that its name is in use. A cluster
// may have a hundred such objects for each object of a set, so a stub is small. For the cache, it
// has no namespace, and the name "<namespace>/<name>". So the key that the cache derives from it is
// the same string, and needs no extra memory. All other code calls about.
type stub struct {
	// ObjectMeta is nil: the cache reads nothing but a name and a version.
	*metav1.ObjectMeta

	// text is "<namespace>/<name> <resource version>".
	text string
}

// usableStub is a stub of an object that no set uses, but that a set could use. A new set that
// needs the object reads it from the cluster (unread.go).
type usableStub struct{ stub }

func newStub(object metav1.Object) *stub {
	return &stub{text: hostread.IndexKey(object, object.GetName()) + " " + object.GetResourceVersion()}
}

func newUsableStub(object metav1.Object) *usableStub { return &usableStub{*newStub(object)} }

func (s *stub) GetNamespace() string { return "" }

func (s *stub) GetName() string {
	key, _, _ := strings.Cut(s.text, " ")
	return key
}

func (s *stub) GetResourceVersion() string {
	_, version, _ := strings.Cut(s.text, " ")
	return version
}

func (s *stub) GetUID() types.UID                           { return "" }
func (s *stub) GetDeletionTimestamp() *metav1.Time          { return nil }
func (s *stub) GetOwnerReferences() []metav1.OwnerReference { return nil }

// about is what is known about the object: its name, and that another controller controls it.
func (s *stub) about() *metav1.ObjectMeta {
	namespace, name, _ := strings.Cut(s.GetName(), "/")
	return &metav1.ObjectMeta{
		Namespace: namespace, Name: name, ResourceVersion: s.GetResourceVersion(),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "an", Kind: "unnamed", Name: "object", Controller: new(true)}},
	}
}

// bucketed are stubs of either type.
type bucketed interface{ about() *metav1.ObjectMeta }

// buckets is how many groups of keys the index of stubs has. An index by name would have one group
// for each name, which takes more memory than the stubs themselves.
const buckets = 1024

// bucketOf is the value of "<namespace>/<base>" in an index of stubs.
func bucketOf(base string) string {
	hash := fnv.New32a()
	hash.Write([]byte(base))
	return strconv.Itoa(int(hash.Sum32() % buckets))
}

// indexStubs finds stubs by the bucket of their base: a name without its ordinal or hash.
func indexStubs[S bucketed](baseOf func(metav1.Object) (string, bool)) cache.IndexFunc {
	return hostread.IndexBy(func(s S) []string {
		about := s.about()
		if base, ok := baseOf(about); ok {
			return []string{bucketOf(hostread.IndexKey(about, base))}
		}
		return nil
	})
}

// stubsOf are the stubs of a type whose base is "<namespace>/<base>".
func stubsOf[S bucketed](v view, kind resource, base string, baseOf func(metav1.Object) (string, bool)) []S {
	var all []S
	for _, s := range find[S](v, kind, byBucket, bucketOf(base)) {
		about := s.about()
		if its, ok := baseOf(about); ok && hostread.IndexKey(about, its) == base {
			all = append(all, s)
		}
	}
	return all
}
