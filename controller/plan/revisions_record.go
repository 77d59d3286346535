// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// recordTemplate plans what makes the record complete: adopt the revisions that an earlier owner
// left, record a new template, and make its revision the latest. After an adoption, nothing else
// can be decided about the revision until the cache shows it.
func recordTemplate(f *facts, d *draft) verdict {
	adopted := false
	for _, r := range f.history {
		if metav1.GetControllerOfNoCopy(r) == nil {
			adopted = true
			d.each(action.AdoptRevision{Revision: action.Exact(r)})
		}
	}
	if adopted {
		return stop
	}

	index := f.history.index(f.update.name)
	known := slices.ContainsFunc(f.world.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == f.update.name })
	switch {
	case index == len(f.history)-1 && index >= 0:
	case index >= 0:
		d.before(action.RaiseRevision{Revision: action.Exact(f.history[index]), To: f.history.next()})
	case !known:
		d.before(action.CreateRevision{Revision: f.newRevision()})
	}
	return proceed
}

// newRevision is the record of the current template. Its hash label has the hash that the name
// would have without collisions, as in apps/v1.
func (f *facts) newRevision() *appsv1.ControllerRevision {
	var before int32
	if f.world.Set.Status.CollisionCount != nil {
		before = *f.world.Set.Status.CollisionCount
	}
	r := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name:            f.update.name,
			Namespace:       f.world.Set.Namespace,
			Labels:          map[string]string{},
			Annotations:     maps.Clone(f.world.Set.Annotations),
			OwnerReferences: []metav1.OwnerReference{identity.Owner(f.world.Set)},
		},
		Data:     runtime.RawExtension{Raw: f.update.data},
		Revision: f.history.next(),
	}
	maps.Copy(r.Labels, f.world.Set.Spec.Template.Labels)
	r.Labels[hashLabel] = revisionHash(f.update.data, before)
	return r
}
