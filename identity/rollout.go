// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"strconv"

	v1 "statefulset.dev/api/apps/v1"
)

// RolloutTrace returns the ID of the trace for all work on one generation of a set, and the ID of
// its root span. Both are computed from the set, so nothing has to be stored or passed on to
// connect a request to one replica with the work of another.
func RolloutTrace(set *v1.StatefulSet) (trace [16]byte, root [8]byte) {
	sum := sha256.Sum256([]byte(string(set.UID) + "/" + strconv.FormatInt(set.Generation, 10)))
	return [16]byte(sum[:16]), [8]byte(sum[16:24])
}
