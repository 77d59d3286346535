// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"

	v1 "statefulset.dev/api/apps/v1"
)

// String describes the action of the step, or what it waits for.
func (s step) String() string {
	if text, ok := words()[s]; ok {
		return text
	}
	return fmt.Sprintf("step %d", int(s))
}

func words() map[step]string {
	const released, copied = "wait until the garbage collector has released the pods of the ",
		"copy the revisions and the collision count of the status"
	return map[step]string{
		createOurs:           "create the set in " + v1.GroupName + ", suspended",
		discardOurs:          "remove the set in " + v1.GroupName + ", which is suspended and has no pods",
		awaitHold:            "wait until the controller of " + v1.GroupName + " has observed the hold",
		awaitTheirStatus:     "wait until the built-in controller has observed the current spec",
		copyStatusToOurs:     copied,
		copyStatusToTheirs:   copied,
		keepClaims:           "set whenDeleted of the apps/v1 set to Retain, so that no claim is deleted with it",
		releaseClaims:        "remove the owner references of the old set from the claims",
		deleteTheirs:         "delete the apps/v1 set, and keep its pods",
		awaitTheirEnd:        released + "apps/v1 set",
		awaitFreedFromTheirs: released + "apps/v1 set",
		endHold:              "end the hold",
		awaitOurs:            "wait until the controller of " + v1.GroupName + " has taken over",
		awaitMembers:         "wait until every member has a pod, because an update is in progress",
		beginHold:            "suspend the set in " + v1.GroupName,
		pauseHold:            "end the hold temporarily, because a pod is missing and an update is in progress",
		releaseRevisions:     "remove the owner references of the old set from the revisions",
		createTheirs:         "create the apps/v1 set",
		awaitRecognition:     "wait until the built-in controller has adopted the revisions and recognized the template",
		deleteOurs:           "delete the set in " + v1.GroupName + ", and keep its pods",
		awaitOurEnd:          released + "set in " + v1.GroupName,
		awaitTheirs:          "wait until the built-in controller has taken over",
		restoreClaims:        "restore whenDeleted of the apps/v1 set",
		dropStrays:           "delete the revisions that were recorded during the move and that no pod runs",
	}
}

// forthSteps and backSteps return the steps of a move without interference from other clients.
func forthSteps(deletesClaims bool) []step {
	steps := []step{createOurs, awaitHold, copyStatusToOurs}
	if deletesClaims {
		steps = append(steps, keepClaims, releaseClaims)
	}
	return append(steps, deleteTheirs, awaitTheirEnd, endHold, awaitOurs)
}

func backSteps(deletesClaims bool) []step {
	steps := []step{beginHold, awaitHold, releaseRevisions, createTheirs, awaitRecognition, copyStatusToTheirs}
	if deletesClaims {
		steps = append(steps, releaseClaims)
	}
	return append(steps, deleteOurs, awaitOurEnd, awaitTheirs)
}
