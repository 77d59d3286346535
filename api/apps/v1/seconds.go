// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import "time"

// MostSeconds is the longest time that the controller waits, a hundred years. The API accepts longer
// ones, such as of terminationGracePeriodSeconds, which do not fit into a time.Duration.
const MostSeconds = 100 * 365 * 24 * 60 * 60

// Seconds is how long a number of seconds in an object is: at least zero, at most MostSeconds. Two of
// these times together are a time.Duration still.
func Seconds[N int32 | int64](n N) time.Duration {
	return time.Duration(min(max(int64(n), 0), MostSeconds)) * time.Second
}
