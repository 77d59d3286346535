// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
)

// moveState is the state of the move that a set of our group is part of.
type moveState int

const (
	settled  moveState = iota // no move
	arriving                  // it takes over from the apps/v1 set
	leaving                   // the apps/v1 set takes over from it
	stopped                   // a user or another tool has suspended it
)

const (
	arrivingMark = "kubectl sts migrate, from apps/v1 "
	leavingMark  = "kubectl sts migrate --back"
)

// arrivingFrom returns the value of the hold annotation of a set that takes over from the apps/v1
// set with that UID.
func arrivingFrom(uid types.UID) string { return arrivingMark + string(uid) }

// moveStateOf reads the hold annotation. If the set takes over from an apps/v1 set, it also returns
// the UID of that set.
func moveStateOf(set *v1.StatefulSet) (moveState, types.UID) {
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
