// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"strconv"

	v1 "statefulset.dev/api/apps/v1"
)

// RolloutTrace is the ID of the trace that all work for one generation of a set
// belongs to, and the ID of the span that stands for the whole of it. Whoever knows the
// set knows them: nothing has to be stored or passed on for a request on one replica and
// the work of another to be found together.
func RolloutTrace(set *v1.StatefulSet) (trace [16]byte, root [8]byte) {
	sum := sha256.Sum256([]byte(string(set.UID) + "/" + strconv.FormatInt(set.Generation, 10)))
	return [16]byte(sum[:16]), [8]byte(sum[16:24])
}
