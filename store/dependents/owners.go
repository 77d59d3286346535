// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package dependents

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"statefulset.dev/identity"
)

// SetID identifies a set uniquely. The garbage collector looks up an owner in the namespace of the
// owned object. So a UID alone, which anyone can write into an owner reference, does not say which
// set is meant.
type SetID struct {
	Namespace string
	UID       types.UID
}

// Owner is a set that objects of the host cluster name as their owner.
type Owner struct {
	namespace, name string
	uid             types.UID
	// Objects counts the objects by resource, and members those that the controller may have
	// created.
	Objects map[string]int
	members int
}

func (o Owner) String() string { return o.namespace + "/" + o.name }

// HasMembers reports whether the controller may have created one of the objects.
func (o Owner) HasMembers() bool { return o.members > 0 }

// FindOwners finds everything in the host cluster that the garbage collector deletes when it is
// informed that a set of our API group does not exist.
func FindOwners(ctx context.Context, host metadata.Interface) (map[SetID]Owner, error) {
	owners := map[SetID]Owner{}
	err := eachObject(ctx, host, metav1.NamespaceAll, func(resource schema.GroupVersionResource, object metav1.PartialObjectMetadata) error {
		addOwners(owners, resource.Resource, &object)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return owners, nil
}

func addOwners(owners map[SetID]Owner, resource string, object *metav1.PartialObjectMetadata) {
	for ref := range SetsOwning(object) {
		at := SetID{object.Namespace, ref.UID}
		known, ok := owners[at]
		if !ok {
			known = Owner{namespace: object.Namespace, name: ref.Name, uid: ref.UID, Objects: map[string]int{}}
		}
		known.Objects[resource]++
		if isMember(resource, object, ref) {
			known.members++
		}
		owners[at] = known
	}
}

// isMember reports whether the controller may have created an object for the set that the object
// names as its owner: it has the name, the labels and the owner reference of a member's object.
// Anyone who may create a pod can write any owner reference into it.
func isMember(resource string, object *metav1.PartialObjectMetadata, ref metav1.OwnerReference) bool {
	controls := ref.Controller != nil && *ref.Controller
	switch resource {
	case Pods:
		set, _, ok := identity.ParsePodName(object.Name)
		return controls && ok && set == ref.Name && object.Labels[appsv1.StatefulSetPodNameLabel] == object.Name
	case Claims:
		set, _, ok := identity.ParsePodName(object.Name)
		return ok && strings.HasSuffix(set, "-"+ref.Name)
	default:
		return controls
	}
}
