// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"fmt"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
)

// step is one step of a move: an action, or a condition to wait for.
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
	releaseRevisions
	createTheirs
	awaitRecognition
	copyStatusToTheirs
	deleteOurs
	awaitOurEnd
	awaitTheirs

	restoreClaims
	dropStrays
)

// waits reports whether the step only waits for a condition.
func (s step) waits() bool {
	switch s {
	case awaitHold, awaitTheirStatus, awaitTheirEnd, awaitFreedFromTheirs, awaitOurs,
		awaitMembers, awaitRecognition, awaitOurEnd, awaitTheirs:
		return true
	default:
		return false
	}
}

// route decides on the next step of a move. If there is none, the error explains to the user why.
type route func(situation) (step, error)

// forth is the route after which only the set of our group exists.
func forth(s situation) (step, error) {
	if s.ours == nil {
		return begin(s)
	}
	state, _ := moveStateOf(s.ours)
	switch {
	case s.ours.DeletionTimestamp != nil && state == arriving && s.theirs != nil:
		return awaitOurEnd, nil
	case s.ours.DeletionTimestamp != nil:
		return done, fmt.Errorf("the set in %s is being deleted; wait until it no longer exists", v1.GroupName)
	case state == arriving:
		return arrive(s)
	case state == leaving:
		return done, fmt.Errorf("a move back to apps/v1 is not complete; complete it with --back, or undo it with --undo")
	case s.theirs != nil:
		return done,
			fmt.Errorf("a set of this name also exists in %s, and no move created it; delete one of the two and keep its pods: kubectl delete %s %s --cascade=orphan",
				v1.GroupName, ourResource, s.ours.Name)
	case state == stopped:
		return done, nil
	default:
		return takenOver(s)
	}
}

// arrive returns the next step of a move that has begun.
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

// begin returns the first step, or why the move cannot begin.
func begin(s situation) (step, error) {
	switch {
	case s.theirs == nil:
		return done, errNoSet
	case s.theirs.DeletionTimestamp != nil:
		return done,
			fmt.Errorf("the apps/v1 set is being deleted (finalizers: %s); wait until it no longer exists", strings.Join(s.theirs.Finalizers, ", "))
	default:
		return createOurs, nil
	}
}

// prepareOurs returns the next step before the apps/v1 set can be deleted.
func prepareOurs(s situation) (step, error) {
	_, from := moveStateOf(s.ours)
	switch {
	case from != s.theirs.UID || !sameSpec(s.theirs, s.ours) || protected(s.theirs) && !protected(s.ours):
		return discardOurs, nil
	case !s.isHoldObserved():
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

// takenOver waits until our controller has taken over all pods and revisions.
func takenOver(s situation) (step, error) {
	pods, revisions := s.free()
	if pods+revisions > 0 || !s.inCharge() || int(s.ours.Status.ReadyReplicas) < s.ready() {
		return awaitOurs, nil
	}
	return done, nil
}

// back is the route after which only the set of apps/v1 exists.
func back(s situation) (step, error) {
	if s.ours == nil {
		return takenBack(s)
	}
	state, _ := moveStateOf(s.ours)
	switch {
	case s.ours.DeletionTimestamp != nil && s.theirs != nil:
		return awaitOurEnd, nil
	case s.ours.DeletionTimestamp != nil:
		return done, fmt.Errorf("the set in %s is being deleted; wait until it no longer exists", v1.GroupName)
	case protected(s.ours):
		// Checked before every step, because the set is deleted only when both sets exist.
		return done, refuseProtected(s.ours, state)
	case state == arriving:
		return forth(s)
	case state == stopped:
		why, _ := v1.Held(s.ours)
		return done, fmt.Errorf("the set is suspended (%q); end the hold first: kubectl annotate %s %s %s-", why, ourResource, s.ours.Name,
			v1.HoldAnnotation)
	case state == settled && s.theirs != nil:
		return done,
			fmt.Errorf("a set of this name also exists in apps/v1, and no move created it; delete one of the two and keep its pods: kubectl delete statefulsets.apps %s --cascade=orphan", s.theirs.Name)
	case state == settled:
		return beforeHold(s)
	case s.theirs == nil:
		return prepareTheirs(s)
	default:
		return handOver(s)
	}
}

// beforeHold returns the next step before our set can be suspended.
func beforeHold(s situation) (step, error) {
	if next, err := takenOver(s); next != done || err != nil {
		return next, err
	}
	if s.updating() && s.incomplete() != "" {
		return awaitMembers, nil
	}
	return beginHold, nil
}

// prepareTheirs returns the next step before the apps/v1 set can be created.
func prepareTheirs(s situation) (step, error) {
	switch {
	case !s.isHoldObserved():
		return awaitHold, nil
	case s.updating() && s.incomplete() != "":
		// The built-in controller would create the pod at the wrong revision.
		return pauseHold, nil
	case s.ownedBy(s.ours.UID).revisions > 0:
		return releaseRevisions, nil
	default:
		return createTheirs, nil
	}
}

// handOver returns the next step until our set can be deleted.
func handOver(s situation) (step, error) {
	_, free := s.free()
	status := s.theirs.Status
	switch {
	case s.theirs.DeletionTimestamp != nil:
		return done, fmt.Errorf("the apps/v1 set is being deleted; wait until it no longer exists, and try again")
	case !sameSpec(s.theirs, s.ours):
		return done,
			fmt.Errorf("the apps/v1 set of this name has another spec; delete it, keep its pods, and try again: kubectl delete statefulsets.apps %s --cascade=orphan", s.theirs.Name)
	case s.ownedBy(s.ours.UID).revisions > 0:
		return releaseRevisions, nil
	case free > 0 || status.ObservedGeneration != s.theirs.Generation || status.UpdateRevision == "":
		return awaitRecognition, nil
	case status.UpdateRevision != s.ours.Status.UpdateRevision:
		return done,
			fmt.Errorf("the built-in controller recognizes the template as revision %s, not %s: it would restart every member; undo the move with --undo", status.UpdateRevision, s.ours.Status.UpdateRevision)
	case !s.sameRevisions() && *s.theirs.Spec.Replicas > 0:
		return copyStatusToTheirs, nil
	case s.ownedBy(s.ours.UID).claims > 0:
		return releaseClaims, nil
	default:
		return deleteOurs, nil
	}
}

// takenBack waits until the built-in controller has taken over all pods and revisions.
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

// undo is the route back to the beginning of an unfinished move, if the old set still exists: see
// undoRoutes.
func undo(s situation) (step, error) {
	if s.ours == nil {
		return takenBack(s)
	}
	switch state, _ := moveStateOf(s.ours); {
	case s.ours.DeletionTimestamp != nil:
		return awaitOurEnd, nil
	case state == arriving && (s.theirs == nil || s.theirs.DeletionTimestamp != nil):
		return done, fmt.Errorf("the apps/v1 set was deleted in the meantime; run this again")
	case state == arriving && !sameRetention(s.theirs, s.ours):
		return restoreClaims, nil
	case state == arriving:
		return discardOurs, nil
	case state == leaving && s.theirs == nil:
		return resume(s)
	case state == leaving && s.theirs.DeletionTimestamp != nil:
		return awaitTheirEnd, nil
	case state == leaving:
		return deleteTheirs, nil
	default:
		return takenOver(s)
	}
}

// resume returns the next step after the apps/v1 set was deleted again, until our controller
// continues.
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

// undoRoutes returns the routes that undo the unfinished move of a set, one after the other. A move
// that has already deleted the old set is completed first.
func undoRoutes(s situation) ([]route, error) {
	if s.ours == nil && s.theirs == nil {
		return nil, errNoSet
	}
	state := settled
	if s.ours != nil {
		state, _ = moveStateOf(s.ours)
	}
	switch {
	case state == arriving && s.theirs != nil && s.theirs.DeletionTimestamp == nil:
		return []route{undo}, nil
	case state == arriving:
		return []route{back}, nil
	case state == leaving && s.ours.DeletionTimestamp == nil:
		return []route{undo}, nil
	case state == leaving:
		return []route{back, forth}, nil
	default:
		return nil, errNothingToUndo
	}
}
