// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/preflight"
)

// mostClasses is how many StorageClasses are looked up for one write.
const mostClasses = 5

// Cluster knows what sets name in the host.
type Cluster interface {
	// Service returns a Service, nil if it does not exist, and false if that is not known. At most it waits a
	// moment to hear of a Service that was created just before, and asks the host once.
	Service(ctx context.Context, namespace, name string) (service *corev1.Service, known bool)
	// LacksStorageClass reports whether a StorageClass does not exist. If that is not known, it says no.
	LacksStorageClass(ctx context.Context, name string) bool
}

// unknownToCluster warns of what a set names and the cluster does not have, where that is new.
func unknownToCluster(ctx context.Context, set, old *v1.StatefulSet, cluster Cluster) (texts []string) {
	if cluster == nil {
		return nil
	}
	renamed := old == nil || set.Spec.ServiceName != old.Spec.ServiceName
	if renamed || !equality.Semantic.DeepEqual(set.Spec.Template.Labels, old.Spec.Template.Labels) {
		texts = append(texts, serviceless(ctx, set, renamed, cluster)...)
	}
	return append(texts, classless(ctx, set, old, cluster)...)
}

// serviceless warns of a Service that gives members no DNS names. That it lacks or is not headless is said
// of a new name only.
func serviceless(ctx context.Context, set *v1.StatefulSet, renamed bool, cluster Cluster) []string {
	name := set.Spec.ServiceName
	if name == "" {
		return nil
	}
	service, known := cluster.Service(ctx, set.Namespace, name)
	switch {
	case !known:
		return nil
	case service == nil && renamed:
		return []string{
			fmt.Sprintf(
				"spec.serviceName: namespace %q has no headless Service %q now, and without it members have no DNS names; create one, with clusterIP: None", set.Namespace, name)}
	case service == nil:
		return nil
	case service.Spec.ClusterIP == corev1.ClusterIPNone:
		return unselected(set, service)
	case renamed && service.Spec.Type == corev1.ServiceTypeExternalName:
		return []string{
			fmt.Sprintf(
				"spec.serviceName: Service %q is of type ExternalName, so members have no DNS names; name a headless Service, with clusterIP: None",
				name)}
	case renamed:
		return []string{
			fmt.Sprintf(
				"spec.serviceName: Service %q is not headless: it has the cluster IP %s, so members have no DNS names; clusterIP cannot be changed: name another Service, with clusterIP: None, or delete this one and create it with that", name, service.Spec.ClusterIP)}
	default:
		return nil
	}
}

// unselected warns of a headless Service whose selector matches no member. One without a selector has
// endpoints that somebody else writes.
func unselected(set *v1.StatefulSet, service *corev1.Service) []string {
	if identity := set.Spec.Identity; identity != nil && len(identity.Transforms) > 0 {
		return nil // they may set labels
	}
	for key, value := range service.Spec.Selector {
		if !mayHaveLabel(set, key, value) {
			return []string{
				fmt.Sprintf(
					"spec.serviceName: the selector of Service %q (%s) matches no member, whose labels are those of spec.template (%s), so members have no DNS names; change the selector or the labels",
					service.Name, labels.FormatLabels(service.Spec.Selector), labels.FormatLabels(set.Spec.Template.Labels))}
		}
	}
	return nil
}

// mayHaveLabel reports whether members have a label, or some have it by an override or their identity.
func mayHaveLabel(set *v1.StatefulSet, key, value string) bool {
	switch key {
	case appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel, appsv1.ControllerRevisionHashLabelKey:
		return true
	}
	if set.Spec.Template.Labels[key] == value {
		return true
	}
	return slices.ContainsFunc(set.Spec.Overrides, func(o v1.MemberOverride) bool { return o.Labels[key] == value && value != "" })
}

// classless warns of StorageClasses that do not exist, of the first of those that are named anew.
func classless(ctx context.Context, set, old *v1.StatefulSet, cluster Cluster) (texts []string) {
	named := classesOf(set)
	if old != nil {
		for class := range classesOf(old) {
			delete(named, class)
		}
	}
	for i, class := range slices.Sorted(maps.Keys(named)) {
		if i == mostClasses {
			break
		}
		if cluster.LacksStorageClass(ctx, class) {
			texts = append(texts,
				fmt.Sprintf(
					"%s: the cluster has no StorageClass %q now, so claims get a volume only where a PersistentVolume of that class exists; create the class, or name one that kubectl get storageclasses shows", named[class], class))
		}
	}
	return texts
}

// classesOf are the StorageClasses that claims of a set name, each with the field that does.
func classesOf(set *v1.StatefulSet) map[string]string {
	named := map[string]string{}
	for i := range set.Spec.VolumeClaimTemplates {
		if class := ptr.Deref(set.Spec.VolumeClaimTemplates[i].Spec.StorageClassName, ""); class != "" && named[class] == "" {
			named[class] = preflight.ClaimPath(i) + ".spec.storageClassName"
		}
	}
	for i := range set.Spec.Overrides {
		for j := range set.Spec.Overrides[i].VolumeClaims {
			if class := ptr.Deref(set.Spec.Overrides[i].VolumeClaims[j].StorageClassName, ""); class != "" && named[class] == "" {
				named[class] = fmt.Sprintf("spec.overrides[%d].volumeClaims[%d].storageClassName", i, j)
			}
		}
	}
	return named
}
