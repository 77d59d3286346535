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

// mostClasses is the maximum number of StorageClasses that are looked up for one write.
const mostClasses = 5

// Cluster looks up objects of the host cluster that sets name.
type Cluster interface {
	// Service returns a Service, nil if it does not exist, and false if that is not known. It waits
	// at most a moment for a Service that was just created, and sends at most one request to the
	// host cluster.
	Service(ctx context.Context, namespace, name string) (service *corev1.Service, known bool)
	// LacksStorageClass reports whether a StorageClass does not exist. It returns false if that is
	// not known.
	LacksStorageClass(ctx context.Context, name string) bool
}

// unknownToCluster warns about new references of a set to objects that the cluster does not have.
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

// serviceless warns about a Service that gives members no DNS names. It warns about a missing
// Service, or one that is not headless, only if the name is new.
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
				"spec.serviceName: Service %q is of type ExternalName, so members have no DNS names; use a headless Service, with clusterIP: None",
				name)}
	case renamed:
		return []string{
			fmt.Sprintf(
				"spec.serviceName: Service %q is not headless: it has the cluster IP %s, so members have no DNS names; clusterIP is immutable: use another Service with clusterIP: None, or delete this one and recreate it with clusterIP: None", name, service.Spec.ClusterIP)}
	default:
		return nil
	}
}

// unselected warns about a headless Service whose selector matches no member. The endpoints of a
// Service without a selector come from another writer.
func unselected(set *v1.StatefulSet, service *corev1.Service) []string {
	if identity := set.Spec.Identity; identity != nil && len(identity.Transforms) > 0 {
		return nil // they may set labels
	}
	for key, value := range service.Spec.Selector {
		if !mayHaveLabel(set, key, value) {
			return []string{
				fmt.Sprintf(
					"spec.serviceName: the selector of Service %q (%s) does not match the labels of spec.template (%s), so members have no DNS names; change the selector or the labels",
					service.Name, labels.FormatLabels(service.Spec.Selector), labels.FormatLabels(set.Spec.Template.Labels))}
		}
	}
	return nil
}

// mayHaveLabel reports whether members have a label, or some may have it because of an override or
// their identity.
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

// classless warns about StorageClasses that do not exist. It checks only the first classes that are
// new.
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
					"%s: the cluster has no StorageClass %q now, so claims get a volume only if a PersistentVolume of that class exists; create the class, or use one that kubectl get storageclasses lists", named[class], class))
		}
	}
	return texts
}

// classesOf returns the StorageClasses in claims of a set, each with a field that names it.
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
