// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"statefulset.dev/client/clientset/versioned"
	setinformers "statefulset.dev/client/informers/externalversions/apps/v1"
)

// resource names one kind of object that we watch and write.
type resource string

const (
	setsResource      resource = "statefulsets"
	podsResource      resource = "pods"
	claimsResource    resource = "persistentvolumeclaims"
	revisionsResource resource = "controllerrevisions"
)

// caches holds what the controller watches.
type caches map[resource]cache.SharedIndexInformer

// newCaches builds the informers and starts none. Their indexes and transforms
// cannot fail to be added before they run, so a failure is a mistake in the program.
func newCaches(host kubernetes.Interface, sets versioned.Interface) caches {
	c := caches{
		setsResource: setinformers.NewFilteredStatefulSetInformer(sets, metav1.NamespaceAll, 0, setIndexers(), fresh),
		podsResource: coreinformers.NewFilteredPodInformer(host, metav1.NamespaceAll, 0, podIndexers(),
			func(options *metav1.ListOptions) {
				fresh(options)
				options.LabelSelector = appsv1.StatefulSetPodNameLabel
			}),
		claimsResource:    coreinformers.NewFilteredPersistentVolumeClaimInformer(host, metav1.NamespaceAll, 0, claimIndexers(), fresh),
		revisionsResource: appsinformers.NewFilteredControllerRevisionInformer(host, metav1.NamespaceAll, 0, revisionIndexers(), fresh),
	}
	for kind, transform := range map[resource]cache.TransformFunc{
		setsResource: trimSet, podsResource: trimPod, claimsResource: trimClaim, revisionsResource: trimRevision,
	} {
		if err := c[kind].SetTransform(transform); err != nil {
			panic(fmt.Sprintf("setting the transform of %s: %v", kind, err))
		}
	}
	return c
}

// fresh makes an informer that cannot stream its first list fall back to a list
// that is read from a quorum. The usual fallback takes what a server's cache has,
// which may be older than what this controller knew before it restarted.
func fresh(options *metav1.ListOptions) {
	if options.ResourceVersion == "0" {
		options.ResourceVersion = ""
	}
}

func (c caches) all() []cache.SharedIndexInformer {
	return []cache.SharedIndexInformer{c[setsResource], c[podsResource], c[claimsResource], c[revisionsResource]}
}

func (c caches) synced() []cache.InformerSynced {
	var synced []cache.InformerSynced
	for _, informer := range c.all() {
		synced = append(synced, informer.HasSynced)
	}
	return synced
}

// ready returns an error that names the caches that are not filled yet.
func (c caches) ready() error {
	var missing []string
	for _, kind := range []resource{setsResource, podsResource, claimsResource, revisionsResource} {
		if !c[kind].HasSynced() {
			missing = append(missing, string(kind))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the controller leads and still waits for its first list of %s", strings.Join(missing, ", "))
	}
	return nil
}

// version is the resource version that the cache has come to.
func (c caches) version(kind resource) string {
	return c[kind].GetStore().LastStoreSyncResourceVersion()
}

// get returns the object of the name, and false if the cache has none.
func get[T any](c caches, kind resource, namespace, name string) (T, bool) {
	object, ok, err := c[kind].GetStore().GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil || !ok {
		var none T
		return none, false
	}
	typed, ok := object.(T)
	return typed, ok
}

// find returns the objects that an index has under a value.
func find[T any](c caches, kind resource, index, value string) []T {
	objects, err := c[kind].GetIndexer().ByIndex(index, value)
	if err != nil {
		panic(fmt.Sprintf("reading index %s of %s: %v", index, kind, err))
	}
	typed := make([]T, 0, len(objects))
	for _, object := range objects {
		if t, ok := object.(T); ok {
			typed = append(typed, t)
		}
	}
	return typed
}
