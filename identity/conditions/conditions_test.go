// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package conditions

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

func TestConditionsArePutIntoAStatus(t *testing.T) {
	earlier, now := time.Unix(100, 0), time.Unix(200, 500)
	of := func(kind v1.StatefulSetConditionType, status corev1.ConditionStatus, reason string, at time.Time) v1.StatefulSetCondition {
		return v1.StatefulSetCondition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(at.Truncate(time.Second))}
	}
	foreign := of("example.com/Checked", corev1.ConditionTrue, "ByHand", earlier)
	ready, stalled := Condition{Status: corev1.ConditionTrue, Reason: "New"}, Condition{Status: corev1.ConditionFalse, Reason: "New"}
	for sentence, test := range map[string]struct {
		before []v1.StatefulSetCondition
		put    Conditions
		want   []v1.StatefulSetCondition
	}{
		"a new status lists them in order": {nil, Conditions{Stalled: stalled, Ready: ready}, []v1.StatefulSetCondition{
			of(v1.StatefulSetReady, corev1.ConditionTrue, "New", now), of(v1.StatefulSetStalled, corev1.ConditionFalse, "New", now)}},
		"one that is not given stays, and so do those of others": {
			[]v1.StatefulSetCondition{foreign, of(v1.StatefulSetAvailable, corev1.ConditionTrue, "Old", earlier)}, Conditions{Ready: ready},
			[]v1.StatefulSetCondition{
				foreign, of(v1.StatefulSetAvailable, corev1.ConditionTrue, "Old", earlier), of(v1.StatefulSetReady, corev1.ConditionTrue, "New", now)}},
		"the same status keeps its time": {
			[]v1.StatefulSetCondition{of(v1.StatefulSetReady, corev1.ConditionTrue, "Old", earlier)}, Conditions{Ready: ready},
			[]v1.StatefulSetCondition{of(v1.StatefulSetReady, corev1.ConditionTrue, "New", earlier)}},
		"another status has a new time": {
			[]v1.StatefulSetCondition{of(v1.StatefulSetReady, corev1.ConditionFalse, "Old", earlier)}, Conditions{Ready: ready},
			[]v1.StatefulSetCondition{of(v1.StatefulSetReady, corev1.ConditionTrue, "New", now)}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := test.put.Put(test.before, now); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
