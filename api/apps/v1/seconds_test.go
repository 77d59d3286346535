// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"math"
	"testing"
	"time"
)

func TestSecondsAreNeverNegativeAndTwoOfThemAddUp(t *testing.T) {
	for n, want := range map[int64]time.Duration{
		math.MinInt64:   0,
		-1:              0,
		0:               0,
		1:               time.Second,
		math.MaxInt32:   math.MaxInt32 * time.Second,
		MostSeconds:     MostSeconds * time.Second,
		MostSeconds + 1: MostSeconds * time.Second,
		9_300_000_000:   MostSeconds * time.Second,
		math.MaxInt64:   MostSeconds * time.Second,
	} {
		if got := Seconds(n); got != want || got+got < got {
			t.Errorf("%d seconds: got %s, and twice that %s; want %s", n, got, got+got, want)
		}
	}
	if got, want := Seconds(int32(math.MinInt32)), time.Duration(0); got != want {
		t.Errorf("the least number of 32 bits: got %s, want %s", got, want)
	}
}

func TestTheLongestDelayOfObjectsIsADuration(t *testing.T) {
	retention := ObjectRetention{WhenScaled: DeleteObjectRetentionPolicyType, ScaledAfterSeconds: new(int32(math.MaxInt32))}
	after, deletes := retention.DeletesScaled()
	if want := math.MaxInt32 * time.Second; !deletes || after != want {
		t.Errorf("got %t after %s, want true after %s", deletes, after, want)
	}
}
