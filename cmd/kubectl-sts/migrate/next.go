// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
)

// step is what is to be done, or waited for, next.
type step int

const (
	done step = iota
	createOurs
	discardOurs
	awaitHold
	awaitTheirStatus
	copyStatusToOurs
	keepClaims
	releaseClaims
	deleteTheirs
	awaitTheirEnd
	awaitFreedFromTheirs
	endHold
	awaitOurs

	awaitMembers
	beginHold
	pauseHold
	letRevisionsGo
	createTheirs
	awaitRecognition
	copyStatusToTheirs
	deleteOurs
	awaitOurEnd
	awaitTheirs

	restoreClaims
	dropStrays
)

// waits reports whether nothing is done in the step but to look again.
func (s step) waits() bool {
	switch s {
	case awaitHold, awaitTheirStatus, awaitTheirEnd, awaitFreedFromTheirs, awaitOurs,
		awaitMembers, awaitRecognition, awaitOurEnd, awaitTheirs:
		return true
	default:
		return false
	}
}

// route decides on the next step of a move. The error says why there is none, in words
// for the user.
type route func(situation) (step, error)

// forth leads to a set of ours alone.
func forth(s situation) (step, error) {
	if s.ours == nil {
		return begin(s)
	}
	course, _ := courseOf(s.ours)
	switch {
	case s.ours.DeletionTimestamp != nil && course == arriving && s.theirs != nil:
		return awaitOurEnd, nil
	case s.ours.DeletionTimestamp != nil:
		return done, fmt.Errorf("the set of %s is being deleted; wait until it is gone", v1.GroupName)
	case course == arriving:
		return arrive(s)
	case course == leaving:
		return done, fmt.Errorf("a move back to apps/v1 is not complete; complete it with --back, or undo it with --undo")
	case s.theirs != nil:
		return done,
			fmt.Errorf("there is also a set of this name in %s, which no move has created; delete one of the two and leave its pods alone: kubectl delete %s %s --cascade=orphan",
				v1.GroupName, ourResource, s.ours.Name)
	case course == stopped:
		return done, nil
	default:
		return takenOver(s)
	}
}

// arrive is the next step of a move that has begun.
func arrive(s situation) (step, error) {
	switch {
	case s.theirs != nil && s.theirs.DeletionTimestamp == nil:
		return prepareOurs(s)
	case s.theirs != nil:
		return awaitTheirEnd, nil
	case s.ownedByFormer().any():
		return awaitFreedFromTheirs, nil
	default:
		return endHold, nil
	}
}

// begin is the first step, or why there cannot be one.
func begin(s situation) (step, error) {
	switch {
	case s.theirs == nil:
		return done, errNoSet
	case s.theirs.DeletionTimestamp != nil:
		return done,
			fmt.Errorf("the apps/v1 set is being deleted (finalizers: %s); wait until it is gone", strings.Join(s.theirs.Finalizers, ", "))
	default:
		return createOurs, nil
	}
}

// prepareOurs is what remains to be done before the apps/v1 set can be deleted.
func prepareOurs(s situation) (step, error) {
	_, from := courseOf(s.ours)
	switch {
	case from != s.theirs.UID || !sameSpec(s.theirs, s.ours) || protected(s.theirs) && !protected(s.ours):
		return discardOurs, nil
	case !s.heldIsSeen():
		return awaitHold, nil
	case s.theirs.Status.ObservedGeneration != s.theirs.Generation:
		return awaitTheirStatus, nil
	case !s.sameRevisions():
		return copyStatusToOurs, nil
	case s.deletesClaims():
		return keepClaims, nil
	case s.ownedBy(s.theirs.UID).claims > 0:
		return releaseClaims, nil
	default:
		return deleteTheirs, nil
	}
}

// takenOver waits until our controller has everything.
func takenOver(s situation) (step, error) {
	pods, revisions := s.free()
	if pods+revisions > 0 || !s.inCharge() || int(s.ours.Status.ReadyReplicas) < s.ready() {
		return awaitOurs, nil
	}
	return done, nil
}

// back leads to a set of apps/v1 alone.
func back(s situation) (step, error) {
	if s.ours == nil {
		return takenBack(s)
	}
	course, _ := courseOf(s.ours)
	switch {
	case s.ours.DeletionTimestamp != nil && s.theirs != nil:
		return awaitOurEnd, nil
	case s.ours.DeletionTimestamp != nil:
		return done, fmt.Errorf("the set of %s is being deleted; wait until it is gone", v1.GroupName)
	case protected(s.ours):
		// Asked before every step: the one that deletes the set comes when there are two sets.
		return done, refuseProtected(s.ours, course)
	case course == arriving:
		return forth(s)
	case course == stopped:
		why, _ := v1.Held(s.ours)
		return done, fmt.Errorf("somebody holds the set (%q); end the hold first: kubectl annotate %s %s %s-", why, ourResource, s.ours.Name,
			v1.HoldAnnotation)
	case course == settled && s.theirs != nil:
		return done,
			fmt.Errorf("there is also a set of this name in apps/v1, which no move has created; delete one of the two and leave its pods alone: kubectl delete statefulsets.apps %s --cascade=orphan", s.theirs.Name)
	case course == settled:
		return beforeHold(s)
	case s.theirs == nil:
		return prepareTheirs(s)
	default:
		return handOver(s)
	}
}

// beforeHold is what remains to be done before our set can be put on hold.
func beforeHold(s situation) (step, error) {
	if next, err := takenOver(s); next != done || err != nil {
		return next, err
	}
	if s.updating() && s.incomplete() != "" {
		return awaitMembers, nil
	}
	return beginHold, nil
}

// prepareTheirs is what remains to be done before the apps/v1 set can be created.
func prepareTheirs(s situation) (step, error) {
	switch {
	case !s.heldIsSeen():
		return awaitHold, nil
	case s.updating() && s.incomplete() != "":
		// The built-in controller would create the member, and at the wrong revision.
		return pauseHold, nil
	case s.ownedBy(s.ours.UID).revisions > 0:
		return letRevisionsGo, nil
	default:
		return createTheirs, nil
	}
}

// handOver is what remains to be done until our set can be deleted.
func handOver(s situation) (step, error) {
	_, free := s.free()
	status := s.theirs.Status
	switch {
	case s.theirs.DeletionTimestamp != nil:
		return done, fmt.Errorf("the apps/v1 set is being deleted; wait until it is gone, and try again")
	case !sameSpec(s.theirs, s.ours):
		return done,
			fmt.Errorf("the apps/v1 set of this name wants something else; delete it, leave its pods alone, and try again: kubectl delete statefulsets.apps %s --cascade=orphan", s.theirs.Name)
	case s.ownedBy(s.ours.UID).revisions > 0:
		return letRevisionsGo, nil
	case free > 0 || status.ObservedGeneration != s.theirs.Generation || status.UpdateRevision == "":
		return awaitRecognition, nil
	case status.UpdateRevision != s.ours.Status.UpdateRevision:
		return done,
			fmt.Errorf("the built-in controller takes the template for revision %s and not for %s: it would restart every member; undo the move with --undo", status.UpdateRevision, s.ours.Status.UpdateRevision)
	case !s.sameRevisions() && *s.theirs.Spec.Replicas > 0:
		return copyStatusToTheirs, nil
	case s.ownedBy(s.ours.UID).claims > 0:
		return releaseClaims, nil
	default:
		return deleteOurs, nil
	}
}

// takenBack waits until the built-in controller has everything.
func takenBack(s situation) (step, error) {
	if s.theirs == nil {
		return done, errNoSet
	}
	pods, revisions := s.free()
	status := s.theirs.Status
	if s.theirs.DeletionTimestamp == nil &&
		(pods+revisions > 0 || status.ObservedGeneration != s.theirs.Generation || int(status.ReadyReplicas) < s.ready()) {
		return awaitTheirs, nil
	}
	return done, nil
}

// undo leads to where an unfinished move began. It is for moves that can still turn
// round: see undoRoutes.
func undo(s situation) (step, error) {
	if s.ours == nil {
		return takenBack(s)
	}
	switch course, _ := courseOf(s.ours); {
	case s.ours.DeletionTimestamp != nil:
		return awaitOurEnd, nil
	case course == arriving && (s.theirs == nil || s.theirs.DeletionTimestamp != nil):
		return done, fmt.Errorf("the apps/v1 set has been deleted meanwhile; run this again")
	case course == arriving && !sameRetention(s.theirs, s.ours):
		return restoreClaims, nil
	case course == arriving:
		return discardOurs, nil
	case course == leaving && s.theirs == nil:
		return resume(s)
	case course == leaving && s.theirs.DeletionTimestamp != nil:
		return awaitTheirEnd, nil
	case course == leaving:
		return deleteTheirs, nil
	default:
		return takenOver(s)
	}
}

// resume is what remains to be done, when the apps/v1 set is gone again, until our
// controller goes on.
func resume(s situation) (step, error) {
	switch {
	case s.ownedByFormer().any():
		return awaitFreedFromTheirs, nil
	case len(s.strays()) > 0:
		return dropStrays, nil
	default:
		return endHold, nil
	}
}

// undoRoutes are the routes that undo the unfinished move of a set, one after the other.
// A move that has deleted the set it came from is completed first.
func undoRoutes(s situation) ([]route, error) {
	if s.ours == nil && s.theirs == nil {
		return nil, errNoSet
	}
	course := settled
	if s.ours != nil {
		course, _ = courseOf(s.ours)
	}
	switch {
	case course == arriving && s.theirs != nil && s.theirs.DeletionTimestamp == nil:
		return []route{undo}, nil
	case course == arriving:
		return []route{back}, nil
	case course == leaving && s.ours.DeletionTimestamp == nil:
		return []route{undo}, nil
	case course == leaving:
		return []route{back, forth}, nil
	default:
		return nil, errNothingToUndo
	}
}
