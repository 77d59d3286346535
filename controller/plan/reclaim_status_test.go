// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
)

// TestClaimsThatCannotBeDeletedAreToldWhereTheyAreDue has members 3 and 4 be due at one time, and 1 an
// hour later.
func TestClaimsThatCannotBeDeletedAreToldWhereTheyAreDue(t *testing.T) {
	due := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	reclaims := []v1.Reclaim{
		{First: 3, Last: new(int32(4)), DueTime: metav1.NewTime(due)}, {First: 1, DueTime: metav1.NewTime(due.Add(time.Hour))}}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "data-db-4", errors.New("no"))
	deletion := func(ordinal int, due time.Time) action.DeleteClaim {
		return action.DeleteClaim{Ordinal: ordinal, Due: due}
	}
	for sentence, test := range map[string]struct {
		failures []Failure
		want     []string
	}{
		"a range is told once, with what an operator can do": {
			[]Failure{{Action: deletion(4, due), Err: forbidden}, {Action: deletion(3, due), Err: errors.New("timeout")}},
			[]string{"claims of ordinals 3-4 have been due since 2026-11-24T12:00:00Z, but could not be deleted: no; if the controller lacks the right: kubectl apply -k artifacts/reclaim", ""},
		},
		"what is no lack of a right has no remedy": {
			[]Failure{{Action: deletion(1, due.Add(time.Hour)), Err: errors.New("timeout")}},
			[]string{"", "claims of ordinal 1 have been due since 2026-11-24T13:00:00Z, but could not be deleted: timeout"},
		},
		"one that the list has no room for is told at the first": {
			[]Failure{{Action: deletion(9, due.Add(time.Minute)), Err: errors.New("timeout")}},
			[]string{"claims of ordinal 9 have been due since 2026-11-24T12:01:00Z, but could not be deleted: timeout", ""},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := v1.StatefulSetStatus{Reclaims: reclaims}
			status := WithFailures(before, Plan{Status: before}, test.failures, due)
			var got []string
			for _, r := range status.Reclaims {
				got = append(got, r.Message)
			}
			if !slices.Equal(got, test.want) || len(status.Conditions) > 0 {
				t.Errorf("got the messages %q and the conditions %v, want %q and none", got, status.Conditions, test.want)
			}
			if reclaims[0].Message+reclaims[1].Message != "" {
				t.Errorf("the status of before was written into: %v", reclaims)
			}
		})
	}
}
