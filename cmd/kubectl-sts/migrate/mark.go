// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// course says which move a set of ours is on.
type course int

const (
	settled  course = iota // it is not moving
	arriving               // it takes over from the apps/v1 set
	leaving                // the apps/v1 set takes over from it
	stopped                // somebody else holds it
)

const (
	arrivingMark = "kubectl sts migrate, from apps/v1 "
	leavingMark  = "kubectl sts migrate --back"
)

// arrivingFrom is the value of the hold annotation of a set that takes over from the
// apps/v1 set of that UID.
func arrivingFrom(uid types.UID) string { return arrivingMark + string(uid) }

// courseOf reads the hold annotation. The UID is that of the apps/v1 set which a set
// takes over from, empty if it does not.
func courseOf(set *v1.StatefulSet) (course, types.UID) {
	why, held := v1.Held(set)
	switch {
	case !held:
		return settled, ""
	case why == leavingMark:
		return leaving, ""
	case strings.HasPrefix(why, arrivingMark):
		return arriving, types.UID(strings.TrimPrefix(why, arrivingMark))
	default:
		return stopped, ""
	}
}
