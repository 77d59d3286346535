// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// claimTemplates reads templates such as www or www:2Gi:fast:gold, with the class of the
// storage and that of the attributes; without a size, 1Gi. "gone" are none.
func claimTemplates(text string) (templates []corev1.PersistentVolumeClaim) {
	if text == "gone" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		words := append(strings.Split(part, ":"), "", "", "")
		template := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: words[0]}}
		template.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(cmp.Or(words[1], "1Gi"))}
		if words[2] != "" {
			template.Spec.StorageClassName = &words[2]
		}
		if words[3] != "" {
			template.Spec.VolumeAttributesClassName = &words[3]
		}
		templates = append(templates, template)
	}
	return templates
}

func (h *host) ordinals() *v1.StatefulSetOrdinals {
	if h.set.Spec.Ordinals == nil {
		h.set.Spec.Ordinals = &v1.StatefulSetOrdinals{}
	}
	return h.set.Spec.Ordinals
}

// ranges reads ranges such as 1,3-5, or none.
func (h *host) ranges(text string) (ranges []v1.OrdinalRange) {
	if text == "none" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, long := strings.Cut(part, "-")
		next := v1.OrdinalRange{First: int32(h.number(first))}
		if long {
			next.Last = new(int32(h.number(last)))
		}
		ranges = append(ranges, next)
	}
	return ranges
}

func (h *host) rolling() *v1.RollingUpdateStatefulSetStrategy {
	strategy := &h.set.Spec.UpdateStrategy
	if strategy.RollingUpdate == nil {
		strategy.Type = v1.RollingUpdateStatefulSetStrategyType
		strategy.RollingUpdate = &v1.RollingUpdateStatefulSetStrategy{}
	}
	return strategy.RollingUpdate
}

func (h *host) retention() *v1.StatefulSetPersistentVolumeClaimRetentionPolicy {
	if h.set.Spec.PersistentVolumeClaimRetentionPolicy == nil {
		h.set.Spec.PersistentVolumeClaimRetentionPolicy = &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{}
	}
	return h.set.Spec.PersistentVolumeClaimRetentionPolicy
}

func (h *host) number(text string) int {
	h.t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		h.t.Fatalf("reading %q as a number: %v", text, err)
	}
	return n
}

func (h *host) world() World {
	return World{
		Set: h.set, Now: h.now.Add(h.skew), Rivals: h.rivals, Cache: h.records, Resizes: !h.fixed, SetsConditions: !h.mute,
		Pods:      slices.Collect(maps.Values(h.pods)),
		Claims:    slices.Collect(maps.Values(h.claims)),
		Revisions: slices.Collect(maps.Values(h.revisions)),
		Objects:   h.seenObjects(), Kinds: h.kindsOfObjects(),
	}
}
