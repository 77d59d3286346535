// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

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
