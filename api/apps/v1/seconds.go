// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "time"

// MostSeconds is the longest time that the controller waits: a hundred years. The API accepts
// longer times, for example in terminationGracePeriodSeconds, which do not fit into a
// time.Duration.
const MostSeconds = 100 * 365 * 24 * 60 * 60

// Seconds converts a number of seconds in an object to a duration from zero to MostSeconds. The sum
// of two such durations fits into a time.Duration.
func Seconds[N int32 | int64](n N) time.Duration {
	return time.Duration(min(max(int64(n), 0), MostSeconds)) * time.Second
}
