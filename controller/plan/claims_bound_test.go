// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// TestAPlanChangesABoundedNumberOfClaims is about a label for the claims of thousands of
// members.
func TestAPlanChangesABoundedNumberOfClaims(t *testing.T) {
	h := newHost(t, Compute)
	h.configure([]string{"replicas=2000", "policy=Parallel", "claims=www", "volumeClaimUpdate=InPlace"})
	set := h.set.DeepCopy()
	world := World{Set: set, Now: h.now}
	for ordinal := range 2000 {
		claim := identity.Claim(set, 0, ordinal)
		claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: claim.Spec.Resources.Requests}
		pod := identity.Pod(set, &set.Spec.Template, "web-a", ordinal)
		pod.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		world.Claims, world.Pods = append(world.Claims, claim), append(world.Pods, pod)
	}
	set.Spec.VolumeClaimTemplates[0].Labels = map[string]string{"tier": "gold"}
	p := Compute(world)
	changes := 0
	for _, act := range p.All() {
		if _, ok := act.(action.UpdateClaim); ok {
			changes++
		}
	}
	if changes != mostChanged {
		t.Errorf("the plan changes %d claims, want %d", changes, mostChanged)
	}
}

// TestAPlanMarksAndDeletesABoundedNumberOfClaims is about thousands of members that serve, or that
// were removed.
func TestAPlanMarksAndDeletesABoundedNumberOfClaims(t *testing.T) {
	for sentence, test := range map[string]struct {
		replicas, retired    string
		marks, deletes, told int
	}{
		"that serve":                       {replicas: "2000", marks: mostChanged},
		"that were removed just now":       {replicas: "0", marks: mostChanged},
		"that were removed long ago":       {replicas: "0", retired: "2025-01-01T00:00:00Z", deletes: mostReclaimed, told: v1.MostReclaims},
		"that come back before that":       {replicas: "2000", retired: "2025-01-01T00:00:00Z", marks: 2 * mostChanged},
		"that were removed, and not dated": {replicas: "0", retired: "yesterday", marks: mostChanged},
	} {
		t.Run(sentence, func(t *testing.T) {
			h := newHost(t, Compute)
			h.configure([]string{"replicas=" + test.replicas, "policy=Parallel", "claims=www", "scaledAfterSeconds=60"})
			world := World{Set: h.set, Now: h.now}
			for ordinal := range 2000 {
				claim := identity.Claim(h.set, 0, ordinal)
				if test.replicas == "0" {
					claim.Annotations = map[string]string{v1.OwnerAnnotation: "web/set-uid"}
				} else {
					world.Pods = append(world.Pods, identity.Pod(h.set, &h.set.Spec.Template, "web-a", ordinal))
				}
				if test.retired != "" && ordinal%2 == 0 {
					claim.Annotations = action.Merged(claim.Annotations, map[string]string{v1.RetiredAtAnnotation: test.retired})
					claim.ManagedFields = retiredFields(h.now.AddDate(-1, 0, 0))
				}
				if ordinal%2 == 1 && test.told > 0 {
					continue
				}
				world.Claims = append(world.Claims, claim)
			}
			p, marks, deletes := Compute(world), 0, 0
			for _, act := range p.All() {
				switch act.(type) {
				case action.MarkClaim:
					marks++
				case action.DeleteClaim:
					deletes++
				default:
				}
			}
			if marks != test.marks || deletes != test.deletes || len(p.Status.Reclaims) != test.told {
				t.Errorf("got %d marks, %d deletions and %d dates told, want %d, %d and %d", marks, deletes, len(p.Status.Reclaims), test.marks,
					test.deletes, test.told)
			}
		})
	}
}

// TestAnUpdateOfEverySecondMemberFitsIntoTheStatus is about the most that the status can have to
// keep of whom an update has reached, and of whom all conditions have been True.
func TestAnUpdateOfEverySecondMemberFitsIntoTheStatus(t *testing.T) {
	const members, most = 5000, 400 << 10
	h := newHost(t, Compute)
	h.configure([]string{"replicas=1", "policy=Parallel"})
	h.look()
	h.configure([]string{"replicas=5000", "paused=true", "steps=100%:if=ok", "image=nginx:2"})
	earlier := h.set.Status.CurrentRevision
	world := h.world()
	world.Pods = nil
	updated := Compute(world).Status.UpdateRevision
	for ordinal := range members {
		revision := earlier
		if ordinal%2 == 1 {
			revision = updated
		}
		pod := identity.Pod(h.set, &h.set.Spec.Template, revision, ordinal)
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady,
			Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: h.now}}, {Type: "example.com/ok", Status: corev1.ConditionTrue}}}
		world.Pods = append(world.Pods, pod)
	}
	status := Compute(world).Status
	if reached, passed := len(status.Rollout.Released), len(status.Rollout.Passed); reached != members/2 || passed != members/2 {
		t.Errorf("the status names %d ranges that were reached and %d that have passed, want %d and as many", reached, passed, members/2)
	}
	if size := (&v1.StatefulSet{Status: status}).Size(); size > most {
		t.Errorf("the status takes %d bytes, want at most %d", size, most)
	}
}
