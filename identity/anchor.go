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

// anchored is the prefix of the last part of an anchor's name. The hash of a revision has no
// vowels, so no revision of a template has such a name.
const anchored = "objects"

// AnchorName is the name of the anchor of a set. Another set of the same name has another anchor.
func AnchorName(set metav1.Object) string {
	hash := fnv.New32a()
	hash.Write([]byte(set.GetUID()))
	return RevisionName(set.GetName(), anchored+rand.SafeEncodeString(strconv.FormatUint(uint64(hash.Sum32()), 10)))
}

// Anchor builds the owner of those objects of a set that are deleted with it: a revision without a
// template, which the set owns but does not control. So the garbage collector of the host cluster
// asks this server only about the owners of pods, claims and revisions. It deletes the objects when
// the anchor is gone.
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

// AnchorOwner is the owner reference of an anchor to its set.
func AnchorOwner(set *v1.StatefulSet) metav1.OwnerReference {
	owner := Owner(set)
	owner.Controller, owner.BlockOwnerDeletion = nil, nil
	return owner
}

// OwnerOfObjects is the owner reference to an anchor, for an object that is deleted with the set.
func OwnerOfObjects(anchor *appsv1.ControllerRevision) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "ControllerRevision", Name: anchor.Name, UID: anchor.UID}
}

// IsAnchor reports whether a reference is to an anchor of any set of that name.
func IsAnchor(ref metav1.OwnerReference, set string) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	rest, ofSet := strings.CutPrefix(ref.Name, RevisionBase(set))
	return group == appsv1.GroupName && ref.Kind == "ControllerRevision" && ofSet && strings.HasPrefix(rest, "-"+anchored)
}
