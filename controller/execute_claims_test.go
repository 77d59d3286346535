// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/controller/plan"
	"statefulset.dev/identity"
)

// TestAClaimIsDeletedOnlyAfterALiveLook has caches that say that the claim may go.
func TestAClaimIsDeletedOnlyAfterALiveLook(t *testing.T) {
	const ordinal = 3
	pod := identity.Pod(newSet("web"), &newSet("web").Spec.Template, "rev", ordinal)
	for sentence, test := range map[string]struct {
		pod  bool
		live func(*v1.StatefulSet)
		fail string
		want int
	}{
		"the set wants it, and the member has no pod": {want: 1},
		"the member has a pod":                        {pod: true},
		"the set has been changed":                    {live: func(set *v1.StatefulSet) { set.Generation++ }},
		"the set is another one":                      {live: func(set *v1.StatefulSet) { set.UID = "other" }},
		"the set is being deleted":                    {live: func(set *v1.StatefulSet) { set.DeletionTimestamp = new(metav1.Now()) }},
		"the set is held":                             {live: func(set *v1.StatefulSet) { set.Annotations = map[string]string{v1.HoldAnnotation: ""} }},
		"the host does not answer":                    {fail: pod.Name},
	} {
		t.Run(sentence, func(t *testing.T) {
			set := newSet("web", "www")
			claim := identity.Claims(set, ordinal)[0]
			claim.UID, claim.ResourceVersion = "claim-uid", "70"
			objects := []metav1.Object{claim}
			if test.pod {
				objects = append(objects, pod)
			}
			term, host := newTestTerm(t, set, objects...)
			if test.live != nil {
				live := set.DeepCopy()
				test.live(live)
				term.Sets = setsfake.NewSimpleClientset(live)
			}
			if test.fail != "" {
				refuse(host, "get", test.fail, apierrors.NewInternalError(errors.New("no")))
			}
			done := term.execute(t.Context(), nil, set, plan.Plan{Aside: []plan.Chain{{plan.DeleteClaim{Ordinal: ordinal, Claim: targetOf(claim)}}}})
			if got := len(writesTo(host)); got != test.want {
				t.Errorf("got %d writes, want %d: %v", got, test.want, writesTo(host))
			}
			failed, again := len(done.failures) > 0, saysLookAgain(done.stopped)
			if failed != (test.fail != "") || again != (test.want == 0 && test.fail == "") {
				t.Errorf("got failures %v and error %v", done.failures, done.stopped)
			}
		})
	}
}
