// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"hash/fnv"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"

	v1 "statefulset.dev/api/apps/v1"
)

// anchored begins the last part of an anchor's name. The hash of a revision has no vowels, so that no
// revision of a template has such a name.
const anchored = "objects"

// AnchorName is the name of a set's anchor, which is another one for another set of the same name.
func AnchorName(set metav1.Object) string {
	hash := fnv.New32a()
	hash.Write([]byte(set.GetUID()))
	return RevisionName(set.GetName(), anchored+rand.SafeEncodeString(strconv.FormatUint(uint64(hash.Sum32()), 10)))
}

// Anchor is what those objects of a set have as their owner that are to be deleted with it: a revision
// without a template, which the set owns and does not control. The host's garbage collector asks us
// about nothing but pods, claims and revisions, and it deletes the objects when the anchor is gone.
func Anchor(set *v1.StatefulSet) *appsv1.ControllerRevision {
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name:            AnchorName(set),
			Namespace:       set.Namespace,
			Labels:          map[string]string{v1.ObjectSetLabel: set.Name},
			Annotations:     map[string]string{v1.OwnerAnnotation: OwnerMark(set)},
			OwnerReferences: []metav1.OwnerReference{AnchorOwner(set)},
		},
		Data: runtime.RawExtension{Raw: []byte("{}")},
	}
}

// AnchorOwner is the reference of an anchor to its set.
func AnchorOwner(set *v1.StatefulSet) metav1.OwnerReference {
	owner := Owner(set)
	owner.Controller, owner.BlockOwnerDeletion = nil, nil
	return owner
}

// OwnerOfObjects is the reference to an anchor of an object that is to be deleted with the set.
func OwnerOfObjects(anchor *appsv1.ControllerRevision) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "ControllerRevision", Name: anchor.Name, UID: anchor.UID}
}

// IsAnchor reports whether a reference is to an anchor of a set of the name, of whichever.
func IsAnchor(ref metav1.OwnerReference, set string) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	rest, ofSet := strings.CutPrefix(ref.Name, RevisionBase(set))
	return group == appsv1.GroupName && ref.Kind == "ControllerRevision" && ofSet && strings.HasPrefix(rest, "-"+anchored)
}
