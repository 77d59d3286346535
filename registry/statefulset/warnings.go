// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/registry/statefulset/preflight"
)

// revisionSuffix is how much longer the name of a revision can be than the name of its set, in
// characters: a dash and the ten digits of a hash.
const revisionSuffix = 11

// mostUnmounted is the maximum number of warnings of each kind.
const mostUnmounted = 5

// warnings are for sets that are valid, but probably do not do what the user wants. Warnings about
// the templates are given when these change. old is nil for a new set.
func warnings(ctx context.Context, set, old *v1.StatefulSet, cluster Cluster) []string {
	var texts []string
	if limit := set.Spec.RevisionHistoryLimit; limit != nil && *limit < 0 {
		texts = append(texts,
			fmt.Sprintf("spec.revisionHistoryLimit: %d is below 0, so every revision is kept forever; 0 or more is recommended", *limit))
	}
	// A name that is short enough for the revision is short enough for the pod, too: the suffix of
	// a pod has at most as many characters.
	if limit := validation.LabelValueMaxLength - revisionSuffix; len(set.Name) > limit {
		texts = append(texts,
			fmt.Sprintf(
				"metadata.name: %q has %d characters, more than %d: pods may not be created, because their label controller-revision-hash, which is this name and up to %d characters more, is limited to %d characters",
				set.Name, len(set.Name), limit, revisionSuffix, validation.LabelValueMaxLength))
	}
	if old == nil || templateInputsChanged(&set.Spec, &old.Spec) {
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

// unmounted warns about claims that are created for every member but that no container uses.
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
					"%s.metadata.name: %q is mounted by no container, so its claims are not used; add it to the volumeMounts or volumeDevices of a container", preflight.ClaimPath(i), name))
		}
	}
	if count > mostUnmounted {
		texts = append(texts, fmt.Sprintf("spec.volumeClaimTemplates: %d more are mounted by no container", count-mostUnmounted))
	}
	return texts
}

// ungraceful warns about pods whose names are released while their processes may still run.
func ungraceful(spec *corev1.PodSpec) []string {
	if period := spec.TerminationGracePeriodSeconds; period == nil || *period != 0 {
		return nil
	}
	return []string{
		"spec.template.spec.terminationGracePeriodSeconds: 0 removes a pod before its processes have ended, so two pods of the same member may run at the same time; use 1 or more (the default is 30)"}
}

// paused warns about a template that no member gets yet.
func paused(strategy *v1.StatefulSetUpdateStrategy) []string {
	if strategy.RollingUpdate == nil || !strategy.RollingUpdate.IsPaused() {
		return nil
	}
	return []string{
		"spec.updateStrategy.rollingUpdate.paused: no member gets the changed template until the update is resumed: kubectl sts rollout resume"}
}

// renamed warns that the DNS names of members change later than the set.
func renamed(name, old string) string {
	if old == "" {
		return fmt.Sprintf(
			"spec.serviceName: members have no DNS names in Service %q until they are recreated; kubectl sts rollout restart recreates them", name)
	}
	return fmt.Sprintf(
		"spec.serviceName: members keep their DNS names in Service %q until they are recreated; keep that Service until then", old)
}

// reserving warns about members that a change moves to other ordinals, about claims that are
// deleted for it, and about a partition that excludes fewer members than its number.
func reserving(set, old *v1.StatefulSet) []string {
	if set.Spec.Ordinals == nil {
		return nil
	}
	return append(relocating(set, old), partitioning(set, old)...)
}

// partitioning warns about reserved ordinals below the partition, which count, if either changes.
func partitioning(set, old *v1.StatefulSet) []string {
	partition, start := partitionOf(set), set.Spec.Ordinals.Start
	unchanged := partition == partitionOf(old) && equality.Semantic.DeepEqual(set.Spec.Ordinals, old.Spec.Ordinals)
	if unchanged || partition == 0 {
		return nil
	}
	below := v1.OrdinalRange{First: start, Last: new(int32(min(int64(start)+int64(partition)-1, math.MaxInt32)))} //nolint:gosec // bounded
	_, n := overlap(set.Spec.Ordinals.Reserved, []v1.OrdinalRange{below})
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf(
		"spec.updateStrategy.rollingUpdate.partition: %d counts ordinals, and %d of them are reserved, so the partition excludes %d members from updates",
		partition, n, int64(partition)-n)}
}

func partitionOf(set *v1.StatefulSet) int32 {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		return *rolling.Partition
	}
	return 0
}

// relocating warns about members that a change moves to other ordinals, and about claims that are
// deleted for it.
func relocating(set, old *v1.StatefulSet) []string {
	before, after := identity.OrdinalsOf(old), identity.OrdinalsOf(set)
	first, removed := overlap(set.Spec.Ordinals.Reserved, before.Ranges())
	if removed == 0 {
		return nil
	}
	who, whose := "member "+identity.PodName(set.Name, first)+" is", "its"
	if removed > 1 {
		who, whose = fmt.Sprintf("members %s and %d more are", identity.PodName(set.Name, first), removed-1), "their"
	}
	var texts []string
	if after.Len() >= before.Len() {
		texts = append(texts,
			fmt.Sprintf(
				"spec.ordinals.reserved: %s removed, and as many are created at other ordinals; to remove members without that, lower spec.replicas in the same write", who))
	}
	if policy := set.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil &&
		policy.WhenScaled == v1.DeletePersistentVolumeClaimRetentionPolicyType && len(set.Spec.VolumeClaimTemplates) > 0 {
		texts = append(texts,
			fmt.Sprintf(
				"spec.ordinals.reserved: %s removed, and %s claims are deleted, because persistentVolumeClaimRetentionPolicy.whenScaled is Delete", who,
				whose))
	}
	return texts
}

// overlap returns the lowest ordinal that is in ranges of both lists, and the number of such
// ordinals.
func overlap(a, b []v1.OrdinalRange) (lowest int, n int64) {
	for _, x := range a {
		for _, y := range b {
			first, last := max(x.First, y.First), min(x.End(), y.End())
			if first > last {
				continue
			}
			if n == 0 || int(first) < lowest {
				lowest = int(first)
			}
			n += int64(last) - int64(first) + 1
		}
	}
	return lowest, n
}

// removing warns about removed templates whose objects are deleted. It also warns about those whose
// objects are kept, although their retention is Delete, because there are too many removed
// templates.
func removing(set, old *v1.StatefulSet) (texts []string) {
	removed, before := identity.RemovedTemplates(&set.Status), identity.RemovedTemplates(&old.Status)
	for _, s := range removed {
		if slices.ContainsFunc(before, func(b v1.ObjectTemplateStatus) bool { return b.Name == s.Name && b.RemovedAt.Equal(s.RemovedAt) }) {
			continue
		}
		when := "when no pod can use them any more"
		if after, _ := s.Retention.DeletesScaled(); after > 0 {
			when = fmt.Sprintf("%s after no pod can use them any more", after)
		}
		texts = append(texts,
			fmt.Sprintf("spec.objectTemplates: template %q (%s %s) is removed, and its objects are deleted %s; to keep them, add the template again", s.Name,
				s.Kind, s.ObjectName, when))
	}
	for i := range old.Spec.ObjectTemplates {
		was := &old.Spec.ObjectTemplates[i]
		_, deletes := was.DeletesScaled()
		gone := !slices.ContainsFunc(set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == was.Name })
		noted := slices.ContainsFunc(removed, func(s v1.ObjectTemplateStatus) bool { return s.Name == was.Name })
		if deletes && gone && !noted {
			texts = append(texts,
				fmt.Sprintf(
					"spec.objectTemplates: template %q is removed, and its objects are kept, because the objects of %d removed templates are not deleted yet, which is the limit", was.Name, identity.MostRemovedTemplates))
		}
	}
	return texts
}

// overriding warns about overrides with a smaller effect than expected: of containers or claim
// templates that do not exist, and of existing claims. It returns only the first few warnings.
func overriding(set, old *v1.StatefulSet) []string {
	var texts []string
	if old != nil && templateInputsChanged(&set.Spec, &old.Spec) {
		texts = append(texts, unfounded(&set.Spec)...)
	}
	if old != nil && !equality.Semantic.DeepEqual(set.Spec.Overrides, old.Spec.Overrides) {
		texts = append(texts, notGrown(&set.Spec, &old.Spec)...)
	}
	return texts[:min(len(texts), mostUnmounted)]
}

// unfounded warns about overrides of containers and claim templates that do not exist any more.
func unfounded(spec *v1.StatefulSetSpec) (texts []string) {
	containers, templates := containersOf(&spec.Template.Spec), claimTemplateNames(spec)
	for i := range spec.Overrides {
		path := field.NewPath("spec", "overrides").Index(i)
		for j, c := range spec.Overrides[i].Containers {
			if containers[c.Name] == nil && len(texts) < mostUnmounted {
				texts = append(texts, fmt.Sprintf("%s: the template has no container %q, so this part of the override is ignored at its revision",
					path.Child("containers").Index(j), c.Name))
			}
		}
		for j, c := range spec.Overrides[i].VolumeClaims {
			if !templates.Has(c.Name) && len(texts) < mostUnmounted {
				texts = append(texts, fmt.Sprintf("%s: there is no claim template %q, so this part of the override is ignored",
					path.Child("volumeClaims").Index(j), c.Name))
			}
		}
	}
	return texts
}

// notGrown warns about changed overrides of claims that do not change existing claims.
func notGrown(spec, old *v1.StatefulSetSpec) (texts []string) {
	before := map[[2]string]*v1.VolumeClaimOverride{}
	for i := range old.Overrides {
		for j := range old.Overrides[i].VolumeClaims {
			c := &old.Overrides[i].VolumeClaims[j]
			before[[2]string{old.Overrides[i].Name, c.Name}] = c
		}
	}
	grows := spec.VolumeClaimUpdate.IsInPlace()
	for i := range spec.Overrides {
		for j := range spec.Overrides[i].VolumeClaims {
			c := &spec.Overrides[i].VolumeClaims[j]
			was := before[[2]string{spec.Overrides[i].Name, c.Name}]
			if was == nil {
				was = &v1.VolumeClaimOverride{}
			}
			path := field.NewPath("spec", "overrides").Index(i).Child("volumeClaims").Index(j)
			if c.Storage != nil && !grows && !equality.Semantic.DeepEqual(c.Storage, was.Storage) {
				texts = append(texts,
					fmt.Sprintf(
						"%s: %s applies to new claims only: existing claims keep their size; to grow them, set spec.volumeClaimUpdate.policy to InPlace",
						path.Child("storage"), c.Storage))
			}
			if c.StorageClassName != nil && !equality.Semantic.DeepEqual(c.StorageClassName, was.StorageClassName) {
				texts = append(texts,
					fmt.Sprintf("%s: %q applies to new claims only: existing claims keep their class", path.Child("storageClassName"), *c.StorageClassName))
			}
			if len(texts) >= mostUnmounted {
				return texts
			}
		}
	}
	return texts
}

// reshaping warns about changes of claim templates that existing claims do not follow, and about
// removed templates that members may still need. It returns only the first few warnings.
func reshaping(set, old *v1.StatefulSet) []string {
	before := map[string]*corev1.PersistentVolumeClaim{}
	for i := range old.Spec.VolumeClaimTemplates {
		before[old.Spec.VolumeClaimTemplates[i].Name] = &old.Spec.VolumeClaimTemplates[i]
	}
	var texts []string
	for i := range set.Spec.VolumeClaimTemplates {
		template := &set.Spec.VolumeClaimTemplates[i]
		if was := before[template.Name]; was != nil && len(texts) < mostUnmounted {
			texts = append(texts, notFollowed(i, &template.Spec, &was.Spec)...)
		}
		delete(before, template.Name)
	}
	mounted := mountedNames(&old.Spec.Template.Spec)
	for i := range old.Spec.VolumeClaimTemplates {
		switch name := old.Spec.VolumeClaimTemplates[i].Name; {
		case before[name] == nil || len(texts) >= mostUnmounted:
		case mounted.Has(name):
			texts = append(texts,
				fmt.Sprintf(
					"spec.volumeClaimTemplates: %q was removed, so no member can be recreated at a revision that mounts it; its claims are kept", name))
		case isUpdating(old):
			texts = append(texts,
				fmt.Sprintf(
					"spec.volumeClaimTemplates: %q was removed before all members reached the update revision: if an earlier revision mounts it, no member can be recreated at that revision; its claims are kept", name))
		}
	}
	return texts
}

// isUpdating reports whether members may run another revision than that of the template. The server
// does not know what such a revision mounts.
func isUpdating(set *v1.StatefulSet) bool {
	status := &set.Status
	return status.CurrentRevision != status.UpdateRevision || status.ObservedGeneration != set.Generation
}

// notFollowed warns about changes of a template that existing claims do not follow.
func notFollowed(i int, spec, was *corev1.PersistentVolumeClaimSpec) (texts []string) {
	path := preflight.ClaimPath(i) + ".spec."
	size, before := spec.Resources.Requests[corev1.ResourceStorage], was.Resources.Requests[corev1.ResourceStorage]
	if size.Cmp(before) < 0 {
		texts = append(texts, fmt.Sprintf("%sresources[storage]: %s is less than before (%s): existing claims keep their size", path,
			size.String(), before.String()))
	}
	if class := ptr.Deref(spec.StorageClassName, ""); class != ptr.Deref(was.StorageClassName, "") {
		texts = append(texts, fmt.Sprintf("%sstorageClassName: %q applies to new claims only: existing claims keep their class", path, class))
	}
	return texts
}

// mountedNames are the names of the volumes that containers of a pod mount.
func mountedNames(spec *corev1.PodSpec) sets.Set[string] {
	used := sets.New[string]()
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			for _, mount := range containers[i].VolumeMounts {
				used.Insert(mount.Name)
			}
			for _, device := range containers[i].VolumeDevices {
				used.Insert(device.Name)
			}
		}
	}
	return used
}
