// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/registry/statefulset/settest"
)

func TestWarningsOfChangedClaimTemplates(t *testing.T) {
	size := func(text string) func(*v1.StatefulSet) {
		return func(set *v1.StatefulSet) {
			set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(text)}
		}
	}
	removed := func(set *v1.StatefulSet) {
		set.Spec.VolumeClaimTemplates = nil
		set.Spec.Template.Spec.Containers[0].VolumeMounts = nil
	}
	unmounted := func(current, update string, observed int64) func(*v1.StatefulSet) {
		return func(set *v1.StatefulSet) {
			set.Spec.Template.Spec.Containers[0].VolumeMounts = nil
			set.Generation = 1
			set.Status = v1.StatefulSetStatus{CurrentRevision: current, UpdateRevision: update, ObservedGeneration: observed}
		}
	}
	for sentence, test := range map[string]struct {
		from, to func(*v1.StatefulSet)
		want     string // empty for none
	}{
		"are not given for a larger size": {size("1Gi"), size("2Gi"), ""},
		"are given for a smaller size": {size("2Gi"), size("1Gi"),
			"spec.volumeClaimTemplates[0].spec.resources[storage]: 1Gi is less than before (2Gi): existing claims keep their size"},
		"are given for another class": {
			size("1Gi"), settest.Claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("fast") }),
			`spec.volumeClaimTemplates[0].spec.storageClassName: "fast" applies to new claims only: existing claims keep their class`},
		"are given for a removed template that the pods mount": {
			size("1Gi"), removed,
			`spec.volumeClaimTemplates: "www" was removed, so no member can be recreated at a revision that mounts it; its claims are kept`},
		"are given for a removed template that another revision may mount": {unmounted("web-1", "web-2", 1), removed,
			`spec.volumeClaimTemplates: "www" was removed before all members reached the update revision: if an earlier revision mounts it, no member can be recreated at that revision; its claims are kept`},
		"are given for a removed template before the controller has seen the last change": {unmounted("web-1", "web-1", 0), removed,
			`spec.volumeClaimTemplates: "www" was removed before all members reached the update revision: if an earlier revision mounts it, no member can be recreated at that revision; its claims are kept`},
		"are not given for a removed template that no revision in use mounts": {unmounted("web-1", "web-1", 1), removed, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := warnings(t.Context(), settest.Changed(test.to), settest.Changed(test.from), services{"nginx": true})
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got %q, want %q", text, test.want)
			}
		})
	}
}
