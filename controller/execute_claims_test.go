// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
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
		// due is when the claim is, compared with the host's time, which is ahead of the controller's or not known.
		due, ahead time.Duration
		timeless   bool
		want       int
	}{
		"the set wants it, and the member has no pod": {want: 1},
		"the member has a pod":                        {pod: true},
		"the set has been changed":                    {live: func(set *v1.StatefulSet) { set.Generation++ }},
		"the set is another one":                      {live: func(set *v1.StatefulSet) { set.UID = "other" }},
		"the set is being deleted":                    {live: func(set *v1.StatefulSet) { set.DeletionTimestamp = new(metav1.Now()) }},
		"the set is held": {
			live: func(set *v1.StatefulSet) { set.Annotations = map[string]string{v1.HoldAnnotation: ""} }},
		"the host does not answer":                  {fail: pod.Name},
		"it is due by the host's clock alone":       {due: -time.Minute, ahead: 720 * time.Hour, want: 1},
		"it is due by the controller's clock alone": {due: time.Minute, ahead: -720 * time.Hour},
		"the host does not say what time it is":     {timeless: true},
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
				term.config.Sets = setsfake.NewSimpleClientset(live)
			}
			if test.fail != "" {
				refuse(host, "get", test.fail, apierrors.NewInternalError(errors.New("no")))
			}
			due := livingAt(term, test.ahead, test.timeless).Add(test.due)
			done := term.execute(t.Context(), nil, set,
				plan.Plan{Finally: []action.Chain{{action.DeleteClaim{Ordinal: ordinal, Claim: targetOf(claim), Due: due}}}})
			if got := len(writesTo(host)); got != test.want {
				t.Errorf("got %d writes, want %d: %v", got, test.want, writesTo(host))
			}
			failed, again := len(done.failures) > 0, isStaleRead(done.stopped)
			fails := test.fail != "" || test.timeless
			if failed != fails || again != (test.want == 0 && !fails) {
				t.Errorf("got failures %v and error %v", done.failures, done.stopped)
			}
		})
	}
}

// livingAt gives a controller a host whose clock is ahead of its own, or that does not say what time it is,
// and returns the time there.
func livingAt(term *term, ahead time.Duration, timeless bool) time.Time {
	term.config.HostTime = NewHostTime(term.config.Clock)
	now := time.Now().Add(ahead)
	if !timeless {
		term.config.HostTime.answered(term.config.HostTime.elapsed(), term.config.HostTime.elapsed(), now.UTC().Format(http.TimeFormat))
	}
	return now
}
