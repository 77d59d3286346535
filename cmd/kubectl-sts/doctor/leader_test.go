// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
)

func TestTheLeaderIsBelievedWhenItSaysThatItCannotWork(t *testing.T) {
	now := time.Now()
	said := func(who, reason string, ago time.Duration) runtime.Object {
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "statefulset-system", Name: fmt.Sprint(who, reason, ago)},
			InvolvedObject: corev1.ObjectReference{Kind: "Lease", Name: leaseName},
			Reason:         reason, Message: who + ": it waits for its first list of controllerrevisions",
			LastTimestamp: metav1.NewTime(now.Add(-ago)),
		}
	}
	tests := map[string]struct {
		events []runtime.Object
		want   verdict
	}{
		"nothing was said":                {nil, fine},
		"it has said that it cannot work": {[]runtime.Object{said("a_1", "ControllerNotReady", time.Minute)}, broken},
		"it has said since that it can": {
			[]runtime.Object{said("a_1", "ControllerNotReady", 2*time.Minute), said("a_1", "ControllerReady", time.Minute)}, fine},
		"it could once, and now cannot": {
			[]runtime.Object{said("a_1", "ControllerReady", 2*time.Minute), said("a_1", "ControllerNotReady", time.Minute)}, broken},
		"another replica that led before could not": {[]runtime.Object{said("b_2", "ControllerNotReady", time.Minute)}, fine},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			lease := &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "statefulset-system", Name: leaseName},
				Spec: coordinationv1.LeaseSpec{
					HolderIdentity: new("a_1"), RenewTime: new(metav1.NewMicroTime(now)), LeaseDurationSeconds: new(int32(9))},
			}
			e := &examiner{host: fake.NewClientset(append(test.events, lease)...), system: "statefulset-system", now: now}
			got := e.leader(t.Context())
			if len(got) != 1 || got[0].verdict != test.want {
				t.Fatalf("got %+v, want one finding %q", got, test.want)
			}
			if test.want == broken && !strings.Contains(got[0].message, "first list of controllerrevisions") {
				t.Errorf("got %q, want the reason in it", got[0].message)
			}
		})
	}
}
