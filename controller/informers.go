// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// informers fill a view, one for each kind.
type informers map[resource]cache.SharedIndexInformer

// newInformers builds the informers and their view, and starts none. Their indexes and
// transforms cannot fail to be added before they run, so a failure is a mistake in the
// program.
func newInformers(all kinds) (informers, view) {
	built, v := informers{}, view{}
	for i := range all {
		kind := &all[i]
		informer := kind.inform()
		if err := informer.AddIndexers(kind.indexers()); err != nil {
			panic(fmt.Sprintf("indexing %s: %v", kind.resource, err))
		}
		if err := informer.SetTransform(func(object any) (any, error) { return kind.trim(v, object), nil }); err != nil {
			panic(fmt.Sprintf("setting the transform of %s: %v", kind.resource, err))
		}
		built[kind.resource], v[kind.resource] = informer, informer.GetIndexer()
	}
	return built, v
}

// selecting makes an informer ask for what has a label.
func selecting(label string) func(*metav1.ListOptions) {
	return func(options *metav1.ListOptions) {
		fresh(options)
		options.LabelSelector = label
	}
}

// fresh makes an informer that cannot stream its first list fall back to a list
// that is read from a quorum. The usual fallback takes what a server's cache has,
// which may be older than what this controller knew before it restarted.
func fresh(options *metav1.ListOptions) {
	if options.ResourceVersion == "0" {
		options.ResourceVersion = ""
	}
}

func (i informers) synced() []cache.InformerSynced {
	var synced []cache.InformerSynced
	for _, informer := range i {
		synced = append(synced, informer.HasSynced)
	}
	return synced
}

// unsynced names the kinds that have not been listed yet, in the order of the table.
func (i informers) unsynced(all kinds) string {
	var missing []string
	for _, kind := range all {
		if !i[kind.resource].HasSynced() {
			missing = append(missing, string(kind.resource))
		}
	}
	return strings.Join(missing, ", ")
}
