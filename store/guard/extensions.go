// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	v1 "statefulset.dev/api/apps/v1"
)

// formats say which minor version of ours is the first that knows a format.
func formats() []struct {
	format int
	since  *version.Version
} {
	return []struct {
		format int
		since  *version.Version
	}{
		{firstFormat, version.MajorMinor(0, 0)},
		{storeFormat, version.MajorMinor(0, 1)},
	}
}

// formatOfVersion is the latest format that a version of ours knows.
func formatOfVersion(emulated *version.Version) int {
	known := firstFormat
	for _, f := range formats() {
		if emulated.AtLeast(f.since) {
			known = max(known, f.format)
		}
	}
	return known
}

// extension is a field of a set that needs a later format than the first.
type extension struct {
	path   string
	format int
	used   func(*v1.StatefulSet) bool
}

// extensions are all of them. A field that is not here must be known since the first format.
func extensions() []extension {
	const inRollingUpdate = "spec.updateStrategy.rollingUpdate."
	rolling := func(used func(*v1.RollingUpdateStatefulSetStrategy) bool) func(*v1.StatefulSet) bool {
		return func(s *v1.StatefulSet) bool {
			return s.Spec.UpdateStrategy.RollingUpdate != nil && used(s.Spec.UpdateStrategy.RollingUpdate)
		}
	}
	return []extension{
		{"spec.ordinals.reserved", 2, func(s *v1.StatefulSet) bool { return s.Spec.Ordinals != nil && len(s.Spec.Ordinals.Reserved) > 0 }},
		{inRollingUpdate + "replaceUnreadyAfterSeconds", 2, rolling(func(r *v1.RollingUpdateStatefulSetStrategy) bool { return r.ReplaceUnreadyAfterSeconds != nil })},
		{inRollingUpdate + "paused", 2, rolling(func(r *v1.RollingUpdateStatefulSetStrategy) bool { return r.Paused != nil })},
		{inRollingUpdate + "steps", 2, rolling(func(r *v1.RollingUpdateStatefulSetStrategy) bool { return len(r.Steps) > 0 })},
		{inRollingUpdate + "failurePolicy", 2, rolling(func(r *v1.RollingUpdateStatefulSetStrategy) bool { return r.FailurePolicy != nil })},
		{inRollingUpdate + "order", 2, rolling(func(r *v1.RollingUpdateStatefulSetStrategy) bool { return r.Order != nil })},
		{inRollingUpdate + "inPlace", 2, rolling(func(r *v1.RollingUpdateStatefulSetStrategy) bool { return r.InPlace != nil })},
		{"spec.volumeClaimUpdate", 2, func(s *v1.StatefulSet) bool { return s.Spec.VolumeClaimUpdate != nil }},
		{"spec.persistentVolumeClaimRetentionPolicy.scaledAfterSeconds", 2, func(s *v1.StatefulSet) bool {
			policy := s.Spec.PersistentVolumeClaimRetentionPolicy
			return policy != nil && policy.ScaledAfterSeconds != nil
		}},
		{"spec.overrides", 2, func(s *v1.StatefulSet) bool { return len(s.Spec.Overrides) > 0 }},
		{"spec.identity", 2, func(s *v1.StatefulSet) bool { return s.Spec.Identity != nil }},
		{"spec.objectTemplates", 2, func(s *v1.StatefulSet) bool { return len(s.Spec.ObjectTemplates) > 0 }},
		{"spec.scaleStrategy", 2, func(s *v1.StatefulSet) bool { return s.Spec.ScaleStrategy != nil }},
		{"spec.disruption", 2, func(s *v1.StatefulSet) bool { return s.Spec.Disruption != nil }},
		{"status.ordinals", 2, func(s *v1.StatefulSet) bool { return len(s.Status.Ordinals) > 0 }},
		{"status.rollout", 2, func(s *v1.StatefulSet) bool { return s.Status.Rollout != nil }},
		{"status.volumeClaims", 2, func(s *v1.StatefulSet) bool { return len(s.Status.VolumeClaims) > 0 }},
		{"status.reclaims", 2, func(s *v1.StatefulSet) bool { return len(s.Status.Reclaims) > 0 }},
		{"status.objectTemplates", 2, func(s *v1.StatefulSet) bool { return len(s.Status.ObjectTemplates) > 0 }},
		{"status.evaluation", 2, func(s *v1.StatefulSet) bool { return s.Status.Evaluation != nil }},
		{"status.replacements", 2, func(s *v1.StatefulSet) bool { return len(s.Status.Replacements) > 0 }},
		{"status.userActions", 2, func(s *v1.StatefulSet) bool { return len(s.Status.UserActions) > 0 }},
	}
}

// neededFormat is what a server must know to read an object: a server that drops ordinals which are
// reserved has other members created and removed.
func neededFormat(obj runtime.Object) int {
	needed := firstFormat
	if set, ok := obj.(*v1.StatefulSet); ok {
		for _, e := range extensions() {
			if e.format > needed && e.used(set) {
				needed = e.format
			}
		}
	}
	return needed
}

// Unknown says which fields of an object the version does not have that this server emulates. The
// store then never needs a format that this version does not know. None of a server that emulates
// no other version.
func (g *Guard) Unknown(obj runtime.Object) field.ErrorList {
	set, ok := obj.(*v1.StatefulSet)
	if !ok {
		return nil
	}
	var errs field.ErrorList
	for _, e := range extensions() {
		if e.format > g.store.format && e.used(set) {
			errs = append(errs, field.Forbidden(field.NewPath(e.path), fmt.Sprintf("version %s does not have it, which this server emulates (--emulated-version)", g.store.emulated)))
		}
	}
	return errs
}

// mayStore refuses an object with fields that the emulated version does not have.
func (g *Guard) mayStore(obj runtime.Object) error {
	errs := g.Unknown(obj)
	if len(errs) == 0 {
		return nil
	}
	name := ""
	if set, ok := obj.(*v1.StatefulSet); ok {
		name = set.Name
	}
	return apierrors.NewInvalid(v1.GroupVersionKind().GroupKind(), name, errs)
}
