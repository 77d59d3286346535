// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// TestOwnersOfClaims has a row for each kind of claim, the policy (whenScaled, whenDeleted), the
// owners that the claim has, and those that it is to have; "left" if the claim is left alone.
// exposed is the owner with which it would be deleted although it stays.
func TestOwnersOfClaims(t *testing.T) {
	for _, c := range []struct{ why, claim, policy, has, want, exposed string }{
		{"a claim that stays has no owner", "desired", "Retain Retain", "", "left", ""},
		{"a scale-in was taken back", "desired", "Delete Retain", "pod", "", "Pod/web-0"},
		{"a scale-in was taken back, and the set owns the claims of its members", "desired", "Delete Delete", "pod", "set", "Pod/web-0"},
		{"whenDeleted was Delete", "desired", "Retain Retain", "set", "", "StatefulSet/web"},
		{"whenDeleted is Delete now: a claim that goes would stay", "desired", "Retain Delete", "", "set", ""},
		{"an unmanaged reference stays", "desired", "Retain Retain", "set other", "other", "StatefulSet/web"},
		{"another controller owns the claim", "desired", "Retain Delete", "set controller", "controller", ""},
		{"an earlier pod owned the claim: the garbage collector decides", "desired", "Retain Retain", "former", "left", ""},
		{"an earlier set owned the claim: the garbage collector decides", "desired", "Retain Retain", "earlier", "left", ""},
		{"the member has no pod yet", "podless", "Retain Retain", "set", "", "StatefulSet/web"},
		{"the member has no pod yet, and the claim goes with the set", "podless", "Retain Delete", "", "set", ""},
		{"the member is scaled in", "surplus", "Delete Retain", "", "pod", ""},
		{"the member is scaled in: its claim goes with the pod or with the set", "surplus", "Delete Delete", "set", "pod", ""},
		{"whenScaled was Delete", "surplus", "Retain Retain", "pod", "", "Pod/web-0"},
		{"whenScaled was Delete, and the claim goes with the set", "surplus", "Retain Delete", "pod", "set", "Pod/web-0"},
		{"claims outlive the pod for a time", "surplus", "Later Retain", "pod", "", "Pod/web-0"},
		{"whenDeleted was Delete, and the member was removed", "removed", "Retain Retain", "set", "", "StatefulSet/web"},
		{"the claim of a removed member goes with the set", "removed", "Delete Delete", "set", "left", ""},
		{"nothing shows that a pod of the set has used the claim", "removed", "Delete Delete", "", "left", ""},
		{"the annotation shows that a pod of the set has used the claim", "marked", "Later Delete", "", "set", ""},
		{"whenDeleted was Delete, and the template was removed", "untemplated", "Retain Retain", "set", "", "StatefulSet/web"},
		{"claims of removed templates get no owner", "untemplated", "Retain Delete", "", "left", ""},
		{"claims of removed templates keep an owner that the policy allows", "untemplated", "Delete Delete", "set", "left", ""},
		{"claims of removed templates are taken off a pod", "untemplated", "Delete Delete", "pod", "", "Pod/web-0"},
	} {
		t.Run(c.why, func(t *testing.T) {
			set := &v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}}
			set.Spec.Replicas = new(int32(1))
			set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "www"}}}
			scaled, deleted, _ := strings.Cut(c.policy, " ")
			policy := &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenScaled: v1.PersistentVolumeClaimRetentionPolicyType(scaled), WhenDeleted: v1.PersistentVolumeClaimRetentionPolicyType(deleted),
			}
			if scaled == "Later" {
				policy.WhenScaled, policy.ScaledAfterSeconds = v1.DeletePersistentVolumeClaimRetentionPolicyType, new(int32(60))
			}
			set.Spec.PersistentVolumeClaimRetentionPolicy = policy
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: "pod"}}
			m, template := member{pod: pod}, "www"
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "www-web-0"}}
			switch c.claim {
			case "podless":
				m.pod = nil
			case "surplus":
				set.Spec.Replicas = new(int32(0))
			case "removed", "marked":
				set.Spec.Replicas, m.pod = new(int32(0)), nil
			case "untemplated":
				template = "logs"
			}
			if c.claim == "marked" {
				claim.Annotations = map[string]string{v1.OwnerAnnotation: identity.OwnerMark(set)}
			}
			references := map[string]metav1.OwnerReference{
				"set": identity.Owner(set), "other": {UID: "other", Name: "other"},
				"controller": {UID: "controller", Name: "other", Controller: new(true)},
				"pod":        *metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod")),
			}
			former, earlier := references["pod"], references["set"]
			former.UID, earlier.UID = "former", "earlier"
			references["former"], references["earlier"] = former, earlier
			for owner := range strings.FieldsSeq(c.has) {
				claim.OwnerReferences = append(claim.OwnerReferences, references[owner])
			}
			f := &facts{world: World{Set: set}, roster: identity.OrdinalsOf(set)}
			change := f.ownerChange(claim, m, template)
			got, exposed := "left", ""
			if change != nil {
				var owners []string
				for _, owner := range change.Owners {
					owners = append(owners, string(owner.UID))
				}
				got, exposed = strings.Join(owners, " "), change.Exposed
			}
			if got != c.want || exposed != c.exposed {
				t.Errorf("got owners %q and exposed %q, want %q and %q", got, exposed, c.want, c.exposed)
			}
		})
	}
}

// A surplus pod owns two claims that stay. Whichever the caches show first, the status is the same.
func TestTheStatusNamesTheSameClaimInWhateverOrderTheyCome(t *testing.T) {
	h := newHost(t, Compute)
	s := &stage{host: h}
	s.play("set replicas=2 policy=Parallel claims=www,log whenScaled=Delete\nconverge\nset replicas=1\nlook\nset whenScaled=Retain")
	world := h.world()
	messages := map[string]int{}
	for range 2 {
		slices.Reverse(world.Claims)
		for _, c := range Compute(world).Status.Conditions {
			if c.Type == v1.StatefulSetReady {
				messages[c.Message]++
			}
		}
	}
	for message := range messages {
		if len(messages) > 1 || !strings.Contains(message, "log-web-1") {
			t.Errorf("got messages %v, want one, which names log-web-1", messages)
		}
	}
}
