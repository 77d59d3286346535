// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	appsv1 "statefulset.dev/api/apps/v1"
)

const (
	pods      = "pods"
	claims    = "persistentvolumeclaims"
	revisions = "controllerrevisions"

	// membersPage is how many objects are asked for at once.
	membersPage = 500
)

// owned are the kinds of objects that the controller gives an owner.
func owned() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		{Version: "v1", Resource: pods},
		{Version: "v1", Resource: claims},
		{Group: "apps", Version: "v1", Resource: revisions},
	}
}

// owner is a set that objects of the host name as their owner.
type owner struct {
	namespace, name string
	uid             types.UID
	// objects counts them by resource.
	objects map[string]int
}

func (o owner) String() string { return o.namespace + "/" + o.name }

// findOwners finds everything in the host that the garbage collector deletes when
// it hears that a set of our group does not exist.
func findOwners(ctx context.Context, host metadata.Interface) (map[types.UID]owner, error) {
	owners := map[types.UID]owner{}
	for _, resource := range owned() {
		options := metav1.ListOptions{Limit: membersPage}
		for {
			page, err := host.Resource(resource).List(ctx, options)
			if err != nil {
				return nil, fmt.Errorf("looking for %s of sets in the host cluster: %w", resource.Resource, err)
			}
			for i := range page.Items {
				addOwners(owners, resource.Resource, &page.Items[i])
			}
			if options.Continue = page.Continue; options.Continue == "" {
				break
			}
		}
	}
	return owners, nil
}

func addOwners(owners map[types.UID]owner, resource string, object *metav1.PartialObjectMetadata) {
	for _, ref := range object.OwnerReferences {
		if group, _, _ := strings.Cut(ref.APIVersion, "/"); group != appsv1.GroupName {
			continue
		}
		known, ok := owners[ref.UID]
		if !ok {
			known = owner{namespace: object.Namespace, name: ref.Name, uid: ref.UID, objects: map[string]int{}}
			owners[ref.UID] = known
		}
		known.objects[resource]++
	}
}
