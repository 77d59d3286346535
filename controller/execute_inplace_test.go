// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
	"statefulset.dev/controller/plan/action"
)

func TestAPodIsChangedInOneWrite(t *testing.T) {
	set := newSet("web", "www")
	pod := newPod(set, 0)
	for sentence, test := range map[string]struct {
		action action.Action
		want   string // with the UID and the version of the pod
	}{
		"images, labels and the note": {
			action.UpdateInPlace{Pod: targetOf(pod), Images: map[string]string{"main": "main:2"}, Sidecars: map[string]string{"proxy": "proxy:2"},
				Labels: map[string]*string{"a": new("b"), "old": nil}, Annotations: map[string]*string{v1.InPlaceAnnotation: new("{}")}},
			`{"metadata":{"annotations":{"apps.statefulset.dev/in-place":"{}"},"labels":{"a":"b","old":null},"resourceVersion":%q,"uid":%q},"spec":{"containers":[{"image":"main:2","name":"main"}],"initContainers":[{"image":"proxy:2","name":"proxy"}]}}`},
		"resources, which are another kind of request": {action.ResizePod{Pod: targetOf(pod),
			Containers: map[string]corev1.ResourceRequirements{"main": {Requests: corev1.ResourceList{corev1.ResourceCPU: quantity.MustParse("2")}}},
			Sidecars: map[string]corev1.ResourceRequirements{
				"proxy": {Limits: corev1.ResourceList{corev1.ResourceMemory: quantity.MustParse("1Gi")}}}},
			`{"metadata":{"resourceVersion":%q,"uid":%q},"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"2"}}}],"initContainers":[{"name":"proxy","resources":{"limits":{"memory":"1Gi"}}}]}}`},
		"the end": {action.EndInPlace{Pod: targetOf(pod)},
			`{"metadata":{"annotations":{"apps.statefulset.dev/in-place":null},"resourceVersion":%q,"uid":%q}}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, pod)
			if done := term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{{test.action}}}); len(done.failures) > 0 {
				t.Fatalf("changing the pod: %v", done.failures)
			}
			patch, ok := writesTo(host)[0].(clienttesting.PatchAction)
			subresource := ""
			if _, resizes := test.action.(action.ResizePod); resizes {
				subresource = "resize"
			}
			if want := fmt.Sprintf(test.want, pod.ResourceVersion, pod.UID); !ok || string(patch.GetPatch()) != want ||
				patch.GetSubresource() != subresource {
				t.Errorf("got %s of %q, want the patch %s of %q", patch.GetPatch(), patch.GetSubresource(), want, subresource)
			}
		})
	}
}

func TestAPodThatMayNotBeChangedIsRemovedOnlyIfTheChangeIsInvalid(t *testing.T) {
	set := newSet("web", "www")
	pod := newPod(set, 0)
	removal := &action.DeletePod{Pod: targetOf(pod), Reason: action.DeleteForUpdate}
	tooLarge := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod.Name,
		errors.New("node didn't have enough allocatable resources"))
	tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NodeCapacity"}}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, pod.Name, nil)
	for sentence, test := range map[string]struct {
		answer    error
		otherwise *action.DeletePod
		resizes   bool
		want      []string
		failures  int
		events    []string
	}{
		"invalid": {
			invalid, removal, false, []string{"patch", "delete"}, 0, []string{"FailedUpdate", v1.ReasonInPlaceFallback, "SuccessfulDelete"}},
		"a resize is invalid": {
			invalid, removal, true, []string{"patch", "delete"}, 0, []string{"FailedUpdate", v1.ReasonInPlaceFallback, "SuccessfulDelete"}},
		"a resize is invalid, and must be": {invalid, nil, true, []string{"patch"}, 1, []string{"FailedUpdate"}},
		"a resize is more than a node has": {
			tooLarge, removal, true, []string{"patch", "delete"}, 0, []string{"FailedUpdate", v1.ReasonInPlaceFallback, "SuccessfulDelete"}},
		"a resize is forbidden": {apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod.Name, nil), removal, true,
			[]string{"patch"}, 1, []string{"FailedUpdate"}},
		"resized":                     {nil, removal, true, []string{"patch"}, 0, []string{"SuccessfulUpdate"}},
		"invalid, and it must not be": {invalid, nil, false, []string{"patch"}, 1, []string{"FailedUpdate"}},
		"forbidden, which may be for a time": {apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod.Name, nil), removal, false,
			[]string{"patch"}, 1, []string{"FailedUpdate"}},
		"another by now": {
			apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, pod.Name, nil), removal, false, []string{"patch"}, 0, nil},
		"changed": {nil, removal, false, []string{"patch"}, 0, []string{"SuccessfulUpdate", v1.ReasonMemberUpdatedInPlace}},
	} {
		t.Run(sentence, func(t *testing.T) {
			term, host := newTestTerm(t, set, pod)
			if test.answer != nil {
				host.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.answer })
			}
			var act action.Action = action.UpdateInPlace{Pod: targetOf(pod), Revision: "web-2", Otherwise: test.otherwise}
			if test.resizes {
				act = action.ResizePod{Pod: targetOf(pod), Containers: map[string]corev1.ResourceRequirements{"main": {}}, Otherwise: test.otherwise}
			}
			done := term.execute(t.Context(), nil, set, plan.Plan{Chains: []action.Chain{{act}}})
			var verbs, events []string
			for _, write := range writesTo(host) {
				verbs = append(verbs, write.GetVerb())
			}
			for _, event := range done.events {
				events = append(events, event.reason)
			}
			if !slices.Equal(verbs, test.want) || len(done.failures) != test.failures || !slices.Equal(events, test.events) {
				t.Errorf("got writes %v, failures %v and events %v, want %v, %d and %v", verbs, done.failures, events, test.want, test.failures,
					test.events)
			}
			_, err := host.CoreV1().Pods("shop").Get(t.Context(), pod.Name, metav1.GetOptions{})
			if gone := apierrors.IsNotFound(err); gone != slices.Contains(test.want, "delete") {
				t.Errorf("reading the pod: got %v after %v", err, verbs)
			}
		})
	}
}
