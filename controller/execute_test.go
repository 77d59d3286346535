// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	v1 "statefulset.dev/api/apps/v1"
	setsfake "statefulset.dev/client/clientset/versioned/fake"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// TestEveryWriteNamesTheObjectThatWasDecidedOn looks at the requests themselves.
func TestEveryWriteNamesTheObjectThatWasDecidedOn(t *testing.T) {
	set := newSet("web", "www")
	pod, revision := newPod(set, 0), newRevision(set, "web-1")
	claim := identity.Claims(set, 0)[0]
	claim.UID, claim.ResourceVersion = "claim-uid", "70"
	orphan := newPod(set, 1)
	orphan.OwnerReferences = nil
	for sentence, act := range map[string]action.Action{
		"deleting a pod":  action.DeletePod{Pod: targetOf(pod), Reason: action.DeleteForUpdate},
		"evicting a pod":  action.DeletePod{Pod: targetOf(pod), Reason: action.DeleteForUpdate, Evict: true},
		"repairing a pod": action.RepairPod{Pod: targetOf(pod), Labels: map[string]string{"a": "b"}},
		"patching a pod":  action.PatchPod{Pod: targetOf(pod), Annotations: map[string]*string{"a": nil}},
		"setting a pod's condition": action.SetPodConditions{
			Pod: targetOf(pod), Conditions: []corev1.PodCondition{{Type: "example.com/a", Status: corev1.ConditionFalse}}},
		"adopting a pod":              action.AdoptPod{Pod: targetOf(orphan)},
		"releasing a pod":             action.ReleasePod{Pod: targetOf(pod)},
		"giving a claim an owner":     action.SetClaimOwners{Claim: targetOf(claim), Owners: []metav1.OwnerReference{identity.Owner(set)}},
		"taking a claim's last owner": action.SetClaimOwners{Claim: targetOf(claim)},
		"growing a claim":             action.UpdateClaim{Claim: targetOf(claim), Size: new(quantity.MustParse("2Gi"))},
		"marking a claim":             action.MarkClaim{Claim: targetOf(claim), Annotations: map[string]*string{"a": new("b"), "c": nil}},
		"deleting a claim":            action.DeleteClaim{Ordinal: 5, Claim: targetOf(claim)},
		"updating a pod in place":     action.UpdateInPlace{Pod: targetOf(pod), Images: map[string]string{"main": "main:2"}},
		"resizing a pod":              action.ResizePod{Pod: targetOf(pod), Containers: map[string]corev1.ResourceRequirements{"main": {}}},
		"ending that":                 action.EndInPlace{Pod: targetOf(pod)},
		"raising a revision":          action.RaiseRevision{Revision: targetOf(revision), To: 4},
		"adopting a revision":         action.AdoptRevision{Revision: targetOf(revision)},
		"deleting a revision":         action.DeleteRevision{Revision: targetOf(revision)},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, pod, orphan, claim, revision)
			done := term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{{act}}})
			if done.stopped != nil || len(done.failures) > 0 {
				t.Fatalf("carrying out %s: stopped by %v, failures %v", act, done.stopped, done.failures)
			}
			writes := writesTo(host)
			if len(writes) != 1 {
				t.Fatalf("got %d writes, want 1: %v", len(writes), writes)
			}
			uid, version := preconditionsOf(t, writes[0])
			want := wantedTarget(act)
			if uid != want.UID || version != want.ResourceVersion {
				t.Errorf("got preconditions %q and %q, want %q and %q", uid, version, want.UID, want.ResourceVersion)
			}
		})
	}
}

// A claim keeps what the set does not ask for.
func TestAClaimIsToldOnlyWhatItLacks(t *testing.T) {
	set := newSet("web", "www")
	claim := identity.Claims(set, 0)[0]
	claim.UID, claim.ResourceVersion = "claim-uid", "70"
	for sentence, test := range map[string]struct {
		action action.UpdateClaim
		want   string
	}{
		"a size": {action.UpdateClaim{Size: new(quantity.MustParse("2Gi"))},
			`{"metadata":{"resourceVersion":"70","uid":"claim-uid"},"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`},
		"attributes": {action.UpdateClaim{AttributesClass: "gold"},
			`{"metadata":{"resourceVersion":"70","uid":"claim-uid"},"spec":{"volumeAttributesClassName":"gold"}}`},
		"labels and annotations": {action.UpdateClaim{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}},
			`{"metadata":{"annotations":{"c":"d"},"labels":{"a":"b"},"resourceVersion":"70","uid":"claim-uid"}}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, claim)
			test.action.Claim = targetOf(claim)
			if done := term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{{test.action}}}); len(done.failures) > 0 {
				t.Fatalf("changing the claim: %v", done.failures)
			}
			patch, ok := writesTo(host)[0].(clienttesting.PatchAction)
			if !ok || string(patch.GetPatch()) != test.want {
				t.Errorf("got %v, want the patch %s", writesTo(host), test.want)
			}
		})
	}
}

func TestAPodIsToldOnlyWhatIsToChange(t *testing.T) {
	set := newSet("web")
	pod := newPod(set, 0)
	for sentence, test := range map[string]struct {
		action      action.Action
		want        string
		subresource string
	}{
		"labels and annotations": {
			action.PatchPod{Pod: targetOf(pod), Labels: map[string]*string{"a": new("b")}, Annotations: map[string]*string{"c": new("d"), "e": nil}},
			`{"metadata":{"annotations":{"c":"d","e":null},"labels":{"a":"b"},"resourceVersion":"100","uid":"web-0-uid"}}`, ""},
		"a condition": {action.SetPodConditions{
			Pod: targetOf(pod), Conditions: []corev1.PodCondition{{Type: "example.com/a", Status: corev1.ConditionFalse, Reason: "Requested"}}},
			`{"metadata":{"resourceVersion":"100","uid":"web-0-uid"},"status":{"conditions":[{"type":"example.com/a","status":"False","lastProbeTime":null,"lastTransitionTime":null,"reason":"Requested"}]}}`, "status"},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, pod)
			if done := term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{{test.action}}}); len(done.failures) > 0 {
				t.Fatalf("changing the pod: %v", done.failures)
			}
			patch, ok := writesTo(host)[0].(clienttesting.PatchAction)
			if !ok || string(patch.GetPatch()) != test.want || patch.GetSubresource() != test.subresource {
				t.Errorf("got %v, want the patch %s of %q", writesTo(host), test.want, test.subresource)
			}
		})
	}
}

func TestOwnersAreChangedOneByOneOnPodsAndAsAWholeOnClaims(t *testing.T) {
	set := newSet("web", "www")
	pod := newPod(set, 0)
	pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "n", UID: "other"})
	claim := identity.Claims(set, 0)[0]
	claim.UID, claim.OwnerReferences = "claim-uid", []metav1.OwnerReference{identity.Owner(set)}
	term, host := newTestTerm(t, set, pod, claim)
	done := term.execute(t.Context(), nil, set,
		plan.Plan{Chains: []action.Chain{{action.ReleasePod{Pod: targetOf(pod)}, action.SetClaimOwners{Claim: targetOf(claim)}}}})
	if done.stopped != nil || len(done.failures) > 0 {
		t.Fatalf("carrying out plan: stopped by %v, failures %v", done.stopped, done.failures)
	}
	released, _ := host.CoreV1().Pods("shop").Get(t.Context(), "web-0", metav1.GetOptions{})
	if got := released.OwnerReferences; len(got) != 1 || got[0].UID != "other" {
		t.Errorf("released pod: got owners %v, want only the other one", got)
	}
	freed, _ := host.CoreV1().PersistentVolumeClaims("shop").Get(t.Context(), "www-web-0", metav1.GetOptions{})
	if got := freed.OwnerReferences; len(got) != 0 {
		t.Errorf("freed claim: got owners %v, want none", got)
	}
}

func TestAPodIsCreatedOnlyWhenAllItsClaimsAre(t *testing.T) {
	set := newSet("web", "www", "logs")
	member := action.CreateMember{Claims: identity.Claims(set, 0), Pod: identity.Pod(set, &set.Spec.Template, "rev", 0)}
	quota := apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "logs-web-0", errors.New("exceeded quota"))
	term, host := newTestTerm(t, set)
	refuse(host, "create", "logs-web-0", quota)

	done := term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{{member}}})
	if got, want := created(host), []string{"logs-web-0", "www-web-0"}; !slices.Equal(got, want) {
		t.Errorf("got creates of %v, want %v and no pod", got, want)
	}
	if len(done.failures) != 1 || !errors.Is(done.failures[0].Err, quota) {
		t.Errorf("got failures %v, want one with the quota's refusal", done.failures)
	}
	reasons := reasonsOf(done.events)
	if want := []string{"FailedCreate", "SuccessfulCreate"}; !slices.Equal(reasons, want) {
		t.Errorf("got events %v, want %v", reasons, want)
	}
}

func TestAnAnswerThatTheWorldHasChangedIsNoFailure(t *testing.T) {
	set := newSet("web")
	pods := schema.GroupResource{Resource: "pods"}
	member := action.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "rev", 0)}
	pod := newPod(set, 0)
	uidChanged := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "web-0", nil)
	uidChanged.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: "metadata.uid"}}
	cases := map[string]struct {
		verb   string
		answer error
		action action.Action
	}{
		"the pod exists already": {"create", apierrors.NewAlreadyExists(pods, "web-0"), member},
		"the pod to delete has changed": {
			"delete", apierrors.NewConflict(pods, "web-0", errors.New("version")), action.DeletePod{Pod: targetOf(pod)}},
		"the pod to delete is gone": {"delete", apierrors.NewNotFound(pods, "web-0"), action.DeletePod{Pod: targetOf(pod)}},
		"the pod to repair has changed": {
			"patch", apierrors.NewConflict(pods, "web-0", errors.New("version")), action.RepairPod{Pod: targetOf(pod)}},
		"the pod to repair is another one": {"patch", uidChanged, action.RepairPod{Pod: targetOf(pod)}},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, pod)
			refuse(host, test.verb, "web-0", test.answer)
			done := term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{{test.action}}})
			if len(done.failures) > 0 || len(done.events) > 0 || !isStaleRead(done.stopped) {
				t.Errorf("got failures %v, events %v, error %v; want no failure, no event, and to look again", done.failures, done.events, done.stopped)
			}
		})
	}
}

func TestNothingIsToldOfANamespaceThatIsGoingAway(t *testing.T) {
	set := newSet("web")
	answer := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "web-0", errors.New("namespace shop is being terminated"))
	answer.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	term, host := newTestTerm(t, set)
	refuse(host, "create", "web-0", answer)
	done := term.execute(t.Context(), nil, set,
		plan.Plan{Chains: []action.Chain{{action.CreateMember{Pod: identity.Pod(set, &set.Spec.Template, "rev", 0)}}}})
	if len(done.failures) != 1 || len(done.events) != 0 || done.retryAfter < longestBackoff/2 {
		t.Errorf("got failures %v, events %v and a retry after %s; want one failure, no event, and a long time", done.failures, done.events,
			done.retryAfter)
	}
}

func TestNoWriteBeginsThatShouldNot(t *testing.T) {
	set := newSet("web")
	delete := plan.Plan{Chains: []action.Chain{{action.DeletePod{Pod: targetOf(newPod(set, 0))}}}}
	cases := map[string]struct {
		arrange func(*term) context.Context
		want    error
	}{
		"the term has ended": {func(*term) context.Context {
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			return ended
		}, errTermOver},
		"the lease has run out while the process slept": {func(term *term) context.Context {
			term.checkLease = func() error { return errors.New("too late") }
			return t.Context()
		}, errTermOver},
		"the spec has changed meanwhile": {func(term *term) context.Context {
			newer := set.DeepCopy()
			newer.Generation++
			return holding(t, term, newer)
		}, &staleRead{}},
		"the set has been recreated": {func(term *term) context.Context {
			another := set.DeepCopy()
			another.UID = "another"
			return holding(t, term, another)
		}, &staleRead{}},
		"the set is being deleted": {func(term *term) context.Context {
			dying := set.DeepCopy()
			dying.DeletionTimestamp = &metav1.Time{}
			return holding(t, term, dying)
		}, &staleRead{}},
	}
	for sentence, test := range cases {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, newPod(set, 0))
			done := term.execute(test.arrange(term), nil, set, delete)
			if writes := writesTo(host); len(writes) > 0 || len(done.failures) > 0 {
				t.Errorf("got writes %v and failures %v, want none", writes, done.failures)
			}
			wantOutdated := isStaleRead(test.want)
			if isStaleRead(done.stopped) != wantOutdated || errors.Is(done.stopped, errTermOver) == wantOutdated {
				t.Errorf("got error %v, want one like %T", done.stopped, test.want)
			}
		})
	}
}

func TestASetIsConfirmedOnceBeforeItAdopts(t *testing.T) {
	set := newSet("web")
	orphans := []*corev1.Pod{newPod(set, 0), newPod(set, 1)}
	adopt := plan.Plan{Chains: []action.Chain{{action.AdoptPod{Pod: targetOf(orphans[0])}}, {action.AdoptPod{Pod: targetOf(orphans[1])}}}}
	dying, another := set.DeepCopy(), set.DeepCopy()
	dying.DeletionTimestamp, another.UID = &metav1.Time{}, "another"
	for sentence, test := range map[string]struct {
		live       *v1.StatefulSet
		wantWrites int
	}{
		"a set that lives adopts":                 {set, 2},
		"a set that is being deleted does not":    {dying, 0},
		"a set that was recreated does not":       {another, 0},
		"a set that is gone past the cache is so": {nil, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, orphans[0], orphans[1])
			var reads atomic.Int32
			sets := setsfake.NewSimpleClientset()
			sets.PrependReactor("get", "statefulsets", func(clienttesting.Action) (bool, runtime.Object, error) {
				reads.Add(1)
				if test.live == nil {
					return true, nil, apierrors.NewNotFound(v1.Resource("statefulsets"), "web")
				}
				return true, test.live, nil
			})
			term.config.Sets = sets
			term.execute(t.Context(), nil, set, adopt)
			if got := len(writesTo(host)); got != test.wantWrites || reads.Load() != 1 {
				t.Errorf("got %d writes after %d reads, want %d after 1", got, reads.Load(), test.wantWrites)
			}
		})
	}
}
