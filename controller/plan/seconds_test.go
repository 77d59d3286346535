// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// longestTimes are what every time of a set is when all its seconds are at a bound.
func longestTimes(seconds int32, grace int64) map[string]time.Duration {
	now := time.Unix(1_800_000_000, 0)
	ready := &corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &grace}, Status: corev1.PodStatus{Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now)}}}}
	set := &v1.StatefulSet{Spec: v1.StatefulSetSpec{MinReadySeconds: seconds, ProgressDeadlineSeconds: &seconds,
		PersistentVolumeClaimRetentionPolicy: &v1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenScaled: v1.DeletePersistentVolumeClaimRetentionPolicyType, ScaledAfterSeconds: &seconds},
		UpdateStrategy: v1.StatefulSetUpdateStrategy{
			Type: v1.RollingUpdateStatefulSetStrategyType, RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{
				ReplaceUnreadyAfterSeconds: &seconds, InPlace: &v1.InPlaceUpdate{Policy: v1.OnlyInPlaceUpdatePolicyType, DrainSeconds: &seconds}}}}}
	f := survey(World{Set: set, Now: now}, &reader{})
	drain, _ := f.drainTime()
	patience, _ := f.replaceUnreadyAfter()
	reclaim, _ := f.reclaimDelay()
	available, _ := f.availableAt(ready)
	clock := metav1.NewTime(now)
	bakes := &progress{progressTime: &clock, baking: &clock, step: v1.RolloutStep{BakeSeconds: seconds}}
	asked := request{Since: clock}
	gate := &v1.DisruptionGate{ConditionType: "example.com/g", TimeoutSeconds: &seconds}
	closed := ready.DeepCopy()
	closed.Status.Conditions = append(closed.Status.Conditions,
		corev1.PodCondition{Type: "example.com/g", Status: corev1.ConditionFalse, LastTransitionTime: clock})
	return map[string]time.Duration{
		"progressDeadlineSeconds":      f.progressDeadline(),
		"drainSeconds":                 drain,
		"replaceUnreadyAfterSeconds":   patience,
		"scaledAfterSeconds":           reclaim,
		"minReadySeconds":              available.Sub(now),
		"bakeSeconds":                  f.bakedAt(bakes).Sub(now),
		"bakeSeconds and the deadline": f.failsAt(bakes).Sub(now),
		"timeoutSeconds":               f.gateStatusOf(closed, []*v1.DisruptionGate{gate}, asked).until.Sub(now),
		"terminationGracePeriodSeconds": f.restartedUntil(ready,
			inPlaceNote{Since: now.UTC().Format(time.RFC3339)}).Sub(now) - f.progressDeadline(),
	}
}

func TestTheLongestTimesOfASetAreInTheFuture(t *testing.T) {
	const most = math.MaxInt32 * time.Second
	for what, got := range longestTimes(math.MaxInt32, math.MaxInt64) {
		want := most
		switch what {
		case "terminationGracePeriodSeconds":
			want = v1.MostSeconds * time.Second
		case "bakeSeconds and the deadline":
			want = 2 * most
		}
		if got != want {
			t.Errorf("%s is %s, want %s", what, got, want)
		}
	}
}

func TestNegativeGracePeriodsAreNone(t *testing.T) {
	for _, grace := range []int64{-1, math.MinInt64} {
		if got := longestTimes(60, grace)["terminationGracePeriodSeconds"]; got != 0 {
			t.Errorf("a grace period of %d seconds is %s, want 0s", grace, got)
		}
	}
}
