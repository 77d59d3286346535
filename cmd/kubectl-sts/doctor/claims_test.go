// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

func TestLostVolumesOfMembersAreFound(t *testing.T) {
	set := v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}}
	set.Spec.Replicas = new(int32(2))
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	claim := func(namespace, name string, phase corev1.PersistentVolumeClaimPhase) corev1.PersistentVolumeClaim {
		c := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		c.Spec.VolumeName, c.Status.Phase = "disk-7", phase
		return c
	}
	leaving := claim("shop", "data-db-1", corev1.ClaimLost)
	leaving.DeletionTimestamp = new(metav1.Now())
	for sentence, c := range map[string]struct {
		claim corev1.PersistentVolumeClaim
		fix   string
	}{
		"a member's claim without its volume is given up": {
			claim("shop", "data-db-1", corev1.ClaimLost), "kubectl sts -n shop replace db-1 --new-claims"},
		"one that is bound is fine":                                {claim("shop", "data-db-1", corev1.ClaimBound), ""},
		"one that is being given up is":                            {leaving, ""},
		"one of a member that the set does not want is left alone": {claim("shop", "data-db-2", corev1.ClaimLost), ""},
		"so is one of another set":                                 {claim("shop", "data-cache-0", corev1.ClaimLost), ""},
		"and one of another template":                              {claim("shop", "logs-db-0", corev1.ClaimLost), ""},
		"and one of another namespace":                             {claim("test", "data-db-0", corev1.ClaimLost), ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			found := lostVolumes([]v1.StatefulSet{set}, []corev1.PersistentVolumeClaim{c.claim})
			if c.fix == "" {
				if len(found) != 0 {
					t.Errorf("got %+v, want nothing", found)
				}
				return
			}
			if len(found) != 1 || found[0].verdict != doubt || !strings.Contains(found[0].message, "disk-7") ||
				!strings.HasPrefix(found[0].fix[0], c.fix) {
				t.Errorf("got %+v, want one doubt that names disk-7 and %q", found, c.fix)
			}
		})
	}
}
