// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/preflight"
)

// revisionSuffix is how many characters a revision's name may be longer than the
// name of its set: a dash and the ten digits of a hash.
const revisionSuffix = 11

// mostUnmounted is how many claim templates that no container mounts are named.
const mostUnmounted = 5

// warnings are about sets that are valid but hardly do what was meant. Those about the
// template and the claim templates are given when these are new: old is nil for a new set.
func warnings(ctx context.Context, set, old *v1.StatefulSet, cluster Cluster) []string {
	var texts []string
	if limit := set.Spec.RevisionHistoryLimit; limit != nil && *limit < 0 {
		texts = append(texts,
			fmt.Sprintf("spec.revisionHistoryLimit: %d is below 0, so every revision is kept forever; 0 or more is recommended", *limit))
	}
	// A name that leaves room for the revision leaves room for the ordinal in the
	// pod's name too: that suffix has at most as many characters.
	if limit := validation.LabelValueMaxLength - revisionSuffix; len(set.Name) > limit {
		texts = append(texts,
			fmt.Sprintf(
				"metadata.name: %q has %d characters, more than %d: pods may not be created, because their label controller-revision-hash, which is this name and up to %d characters more, is limited to %d characters",
				set.Name, len(set.Name), limit, revisionSuffix, validation.LabelValueMaxLength))
	}
	if old == nil || templateConcerned(&set.Spec, &old.Spec) {
		texts = append(texts, unmounted(&set.Spec)...)
	}
	if old == nil ||
		!equality.Semantic.DeepEqual(set.Spec.Template.Spec.TerminationGracePeriodSeconds, old.Spec.Template.Spec.TerminationGracePeriodSeconds) {
		texts = append(texts, ungraceful(&set.Spec.Template.Spec)...)
	}
	texts = append(texts, unknownToCluster(ctx, set, old, cluster)...)
	if old != nil && set.Spec.ServiceName != old.Spec.ServiceName {
		texts = append(texts, renamed(set.Spec.ServiceName, old.Spec.ServiceName))
	}
	if old != nil && !equality.Semantic.DeepEqual(set.Spec.Template, old.Spec.Template) {
		texts = append(texts, paused(&set.Spec.UpdateStrategy)...)
		texts = append(texts, inPlaceImpossible(set, old)...)
	}
	if old != nil {
		texts = append(texts, reserving(set, old)...)
		texts = append(texts, reshaping(set, old)...)
		texts = append(texts, removing(set, old)...)
	}
	texts = append(texts, overriding(set, old)...)
	texts = append(texts, unnamed(set, old)...)
	texts = append(texts, unused(set, old)...)
	texts = append(texts, unpaced(set, old)...)
	return append(texts, misleading(set, old)...)
}

// unmounted warns of claims that are made for every member and that no container uses.
func unmounted(spec *v1.StatefulSetSpec) []string {
	used := mountedNames(&spec.Template.Spec)
	var texts []string
	count := 0
	for i := range spec.VolumeClaimTemplates {
		name := spec.VolumeClaimTemplates[i].Name
		if used.Has(name) {
			continue
		}
		if count++; count <= mostUnmounted {
			texts = append(texts,
				fmt.Sprintf(
					"%s.metadata.name: %q is mounted by no container, so the claims made from it are not used; add it to the volumeMounts or volumeDevices of a container", preflight.ClaimPath(i), name))
		}
	}
	if count > mostUnmounted {
		texts = append(texts, fmt.Sprintf("spec.volumeClaimTemplates: %d more are mounted by no container", count-mostUnmounted))
	}
	return texts
}

// ungraceful warns of pods that give up their names while their processes may still run.
func ungraceful(spec *corev1.PodSpec) []string {
	if period := spec.TerminationGracePeriodSeconds; period == nil || *period != 0 {
		return nil
	}
	return []string{
		"spec.template.spec.terminationGracePeriodSeconds: 0 removes a pod before its processes have ended, so that two may run as the same member; 1 or more is needed to prevent that, 30 is the default"}
}

// paused warns of a template that no member is given yet.
func paused(strategy *v1.StatefulSetUpdateStrategy) []string {
	if strategy.RollingUpdate == nil || !strategy.RollingUpdate.IsPaused() {
		return nil
	}
	return []string{
		"spec.updateStrategy.rollingUpdate.paused: no member gets the changed template until the update is resumed: kubectl sts rollout resume"}
}

// renamed warns that names of members change later than the set.
func renamed(name, old string) string {
	if old == "" {
		return fmt.Sprintf(
			"spec.serviceName: members have no DNS names in Service %q until they are recreated; kubectl sts rollout restart recreates them", name)
	}
	return fmt.Sprintf(
		"spec.serviceName: members keep the DNS names that they have in Service %q until they are recreated; keep that Service until then", old)
}
