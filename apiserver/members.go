// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"strings"

	hostappsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	appsv1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
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

// setID names a set for good. The garbage collector looks for an owner in the
// namespace of what it owns, so a UID alone, which anybody can write into an owner
// reference, does not say which set is meant.
type setID struct {
	namespace string
	uid       types.UID
}

// owner is a set that objects of the host name as their owner.
type owner struct {
	namespace, name string
	uid             types.UID
	// objects counts them by resource, and members those of them that the controller
	// may have made.
	objects map[string]int
	members int
}

func (o owner) String() string { return o.namespace + "/" + o.name }

func (o owner) hasMembers() bool { return o.members > 0 }

// findOwners finds everything in the host that the garbage collector deletes when
// it hears that a set of our group does not exist.
func findOwners(ctx context.Context, host metadata.Interface) (map[setID]owner, error) {
	owners := map[setID]owner{}
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

func addOwners(owners map[setID]owner, resource string, object *metav1.PartialObjectMetadata) {
	for _, ref := range object.OwnerReferences {
		if !isSet(ref) {
			continue
		}
		at := setID{object.Namespace, ref.UID}
		known, ok := owners[at]
		if !ok {
			known = owner{namespace: object.Namespace, name: ref.Name, uid: ref.UID, objects: map[string]int{}}
		}
		known.objects[resource]++
		if isMember(resource, object, ref) {
			known.members++
		}
		owners[at] = known
	}
}

// isSet reports whether an owner reference names a set of our group.
func isSet(ref metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	return group == appsv1.GroupName && ref.Kind == appsv1.Kind
}

// isMember reports whether the controller may have made an object for the set that it
// names as its owner: then it has the name, the labels and the reference of one. Who
// may create a pod can write any owner reference into it.
func isMember(resource string, object *metav1.PartialObjectMetadata, ref metav1.OwnerReference) bool {
	controls := ref.Controller != nil && *ref.Controller
	switch resource {
	case pods:
		set, _, ok := identity.ParsePodName(object.Name)
		return controls && ok && set == ref.Name && object.Labels[hostappsv1.StatefulSetPodNameLabel] == object.Name
	case claims:
		set, _, ok := identity.ParsePodName(object.Name)
		return ok && strings.HasSuffix(set, "-"+ref.Name)
	default:
		return controls
	}
}
