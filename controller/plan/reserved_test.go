// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// TestRecordsInAClaimTemplateCauseNoWrites is about a claim template that was taken from an exported
// claim, with what the controller had noted there.
func TestRecordsInAClaimTemplateCauseNoWrites(t *testing.T) {
	for _, key := range []string{v1.RetiredAtAnnotation, v1.OwnerAnnotation, v1.GeneratedAnnotation} {
		t.Run(key, func(t *testing.T) {
			s := &stage{host: newHost(t, Compute)}
			s.configure([]string{"replicas=3", "policy=Parallel", "claims=www", "volumeClaimUpdate=InPlace", "scaledAfterSeconds=60"})
			s.settle()
			s.configure([]string{"claimAnnotation=" + key})
			for name := range s.claims {
				s.trouble("bind", []string{name})
			}
			s.settle()
			writes := 0
			for range 60 {
				p, done, _ := s.look()
				writes += len(done)
				if len(done) > 0 {
					t.Logf("a plan of a set that has settled: %v", p.All())
				}
				s.now = s.now.Add(100 * time.Millisecond)
			}
			if writes > 0 {
				t.Errorf("a settled set was written to %d times in 60 looks, want 0", writes)
			}
			for name, claim := range s.claims {
				if got := claim.Annotations[key]; got == "2026-01-01T00:00:00Z" || claim.Annotations["note"] != key {
					t.Errorf("claim %s has %s=%q and note=%q, want not the template's, and %q", name, key, got, claim.Annotations["note"], key)
				}
			}
		})
	}
}

// TestRecordsInAPodTemplateAreNotTakenForRecords is about a pod template that was taken from an exported
// pod: its members start, settle, and follow the next update.
func TestRecordsInAPodTemplateAreNotTakenForRecords(t *testing.T) {
	for key, value := range map[string]string{
		v1.InPlaceAnnotation:         `{"revisions":["web-1","web-2"],"since":"2026-01-01T00:00:00Z","containers":{"nginx":"old"}}`,
		v1.DisruptionAnnotation:      `{"id":7,"operation":"Update","since":"2026-01-01T00:00:00Z"}`,
		v1.DisruptionCountAnnotation: "7",
		v1.ClaimTemplatesAnnotation:  "data",
		v1.OverrideAnnotation:        "1-copied",
		v1.GeneratedAnnotation:       "web-0-auth",
		v1.ReplicasAnnotation:        "9",
	} {
		t.Run(key, func(t *testing.T) {
			s := &stage{host: newHost(t, Compute)}
			s.configure([]string{"replicas=2", "policy=Parallel", "claims=www", "volumeClaimUpdate=InPlace", "inPlace=IfPossible"})
			s.set.Spec.Template.Annotations = map[string]string{key: value, "note": "x"}
			s.settle()
			s.configure([]string{"image=nginx:2"})
			s.settle()
			if ready := s.set.Status.Condition(v1.StatefulSetReady); ready.Status != corev1.ConditionTrue || s.set.Status.UpdatedReplicas != 2 {
				t.Errorf("after an update %d members are updated and Ready is %s: %s; want 2 and True", s.set.Status.UpdatedReplicas, ready.Status,
					ready.Message)
			}
			for name, pod := range s.pods {
				if got := pod.Annotations[key]; got == value || pod.Annotations["note"] != "x" {
					t.Errorf("pod %s has %s=%q and note=%q, want not the template's, and x", name, key, got, pod.Annotations["note"])
				}
			}
			if _, done, _ := s.look(); len(done) > 0 {
				t.Errorf("a settled set is written to: %v, want no writes", done)
			}
		})
	}
}
