// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity"
)

// errNoRecord is the error for a revision of which the set no longer has a record.
var errNoRecord = errors.New("its record no longer exists")

// goOnInPlace handles the pods whose containers are being restarted or resized, whatever the
// members around them do. It completes finished updates, brings a blocked pod to another revision
// if the set now requires that, resizes containers, and gives up what does not happen.
func goOnInPlace(f *facts, d *draft) verdict {
	left := map[int]bool{}
	for m := range f.all() {
		if !mayGoOn(m.pod) {
			continue
		}
		note := noteOf(m.pod)
		overdue, _ := f.isOverdue(m.pod)
		switch {
		case f.isReplacementRequested(m) && isBroken(m.pod): // it is removed, as requested
		case note.isDone(m.pod):
			f.finishInPlace(d, m, note)
		case note.mayChange(m.pod) && f.isOutdated(m) && !cannotReplace(f, d, m):
			d.add(f.bringOn(d, m)...)
		case overdue && isOutOfService(m.pod): // it is not known when it is removed
			d.add(f.serve(m))
		case overdue:
			left[m.ordinal] = true
			continue
		case len(note.unpatched(m.pod)) > 0:
			left[m.ordinal] = true
		}
		if f.roster.Contains(m.ordinal) && !f.isStranded(m) { // a later rule reports more about these
			d.wait("%s: %s", m.pod.Name, note.progressText(m.pod))
		}
	}
	resizeOrGiveUp(f, d, left)
	return proceed
}

// finishInPlace completes the update in place of the pod of a member.
func (f *facts) finishInPlace(d *draft, m member, note inPlaceNote) {
	conditions, settles := f.atEnd(m, note), f.settlingFor(m.pod, note)
	switch {
	case len(conditions) > 0:
		d.add(action.SetPodConditions{Ordinal: m.ordinal, Pod: action.Exact(m.pod), Conditions: conditions})
		d.wait("pod %s has been updated in place", m.pod.Name)
	case settles > 0:
		d.requeueAfter(settles)
		d.wait("waiting for %s to be available at %s (minReadySeconds is %d)", m.pod.Name, words.Timestamp(f.world.Now.Add(settles)),
			f.world.Set.Spec.MinReadySeconds)
	default:
		d.add(action.EndInPlace{Ordinal: m.ordinal, Pod: action.Exact(m.pod), Revision: revisionOf(m.pod)})
		d.wait("pod %s has been updated in place", m.pod.Name)
	}
}

// mayGoOn reports whether the containers of a pod are being restarted, and no other rule has to act
// on the pod first.
func mayGoOn(pod *corev1.Pod) bool {
	return isRestarting(pod) && !isTerminating(pod) && !isFinished(pod) && pod.Labels[appsv1.StatefulSetPodNameLabel] == pod.Name
}

// settlingFor is how long it takes until a ready pod has been ready for minReadySeconds since its
// containers were restarted. If the pod became ready after that, its readiness condition already
// shows this. A pod without a probe may have stayed ready throughout the restart.
func (f *facts) settlingFor(pod *corev1.Pod, note inPlaceNote) time.Duration {
	if f.world.Set.Spec.MinReadySeconds == 0 || !isReady(pod) {
		return 0
	}
	last := note.lastStart(pod)
	if ready := readyCondition(pod); !last.After(ready.LastTransitionTime.Time) {
		return 0
	}
	return max(last.Add(v1.Seconds(f.world.Set.Spec.MinReadySeconds)).Sub(f.world.Now), 0)
}

// goesOnInPlace reports whether containers of a broken pod are being restarted or resized, and that
// ends without other members: through the pod's node, after a time, or because the update brings
// the pod to another revision.
func (f *facts) goesOnInPlace(m member) bool {
	return isRestarting(m.pod) && (!noteOf(m.pod).hangs(m.pod) || f.isDue(m))
}

// isOutdated reports whether a desired member has to be brought to another revision.
func (f *facts) isOutdated(m member) bool {
	if !f.roster.Contains(m.ordinal) {
		return false
	}
	_, how := f.target(m)
	return how == recreate || how == recreateBroken
}

// bringOn brings a member whose containers are being restarted for one revision to the revision
// that it should have now.
func (f *facts) bringOn(d *draft, m member) []action.Action {
	if _, how := f.target(m); how == recreateBroken {
		return removeUnready(f, d, m)
	}
	return replaceMember(f, d, m)
}

// inPlacePolicy is the policy of the set for updates in place, empty if it does not request them.
func (f *facts) inPlacePolicy() v1.InPlaceUpdatePolicyType {
	strategy := f.world.Set.Spec.UpdateStrategy
	if strategy.Type != v1.RollingUpdateStatefulSetStrategyType || strategy.RollingUpdate == nil || strategy.RollingUpdate.InPlace == nil {
		return ""
	}
	return strategy.RollingUpdate.InPlace.Policy
}

// inPlaceOr brings the pod of a member to the revision that the member should have: by a change of
// the pod, if the set requests that and it is possible, or else by its removal, unless the set
// forbids that. Then it is nothing, and the reason is recorded. Gates are asked first, if either
// takes the member out of service.
func inPlaceOr(f *facts, d *draft, m member, removal action.DeletePod) []action.Action {
	if f.inPlacePolicy() == "" && !isRestarting(m.pod) {
		return remove(f, d, m, removal)
	}
	switch change := f.changeOf(d, m); {
	case f.isForbidden(d, m):
		return nil
	case change.Prevented != "":
		d.warnOnce(v1.ReasonInPlaceFallback, "members are recreated at revision %s, because they cannot be updated in place: %s", f.targetRevision(m).name,
			change.Prevented)
		return remove(f, d, m, removal)
	case change.Disturbs() || isRestarting(m.pod):
		if first, agree := askFirst(f, d, m, removal.Reason); !agree {
			return first
		}
		fallthrough
	default:
		if first, ready := f.prepare(d, m, change); !ready {
			return first
		}
		return []action.Action{f.updateInPlace(m, change, removal)}
	}
}

// isForbidden reports whether a member cannot be updated in place, and the set does not allow its
// pod to be recreated, or the controller lacks a right. It records that.
func (f *facts) isForbidden(d *draft, m member) bool {
	if f.lacksRight(d, m) {
		d.skip(m, v1.PlanWhyNotInPlaceImpossible, d.latest)
		return true
	}
	if f.inPlacePolicy() != v1.OnlyInPlaceUpdatePolicyType {
		return false
	}
	change := f.changeOf(d, m)
	if change.Prevented == "" {
		return false
	}
	d.stall(v1.ReasonInPlaceImpossible,
		"pod %s cannot be updated in place to revision %s, and inPlace.policy %s does not allow the controller to recreate it: %s; delete the pod so that it is recreated, or set the policy to %s",
		m.pod.Name, f.targetRevision(m).name, v1.OnlyInPlaceUpdatePolicyType, change.Prevented, v1.IfPossibleInPlaceUpdatePolicyType)
	d.skip(m, v1.PlanWhyNotInPlaceImpossible, d.latest)
	return true
}

// updateInPlace is the change of the pod of a member. If the cluster finds the change invalid, the
// pod is removed instead, unless the set forbids that, or gates have not been asked about it.
func (f *facts) updateInPlace(m member, change *identity.InPlaceChange, removal action.DeletePod) action.UpdateInPlace {
	goal := f.targetRevision(m).name
	removal = f.addressed(m, removal)
	update := action.UpdateInPlace{Ordinal: m.ordinal, Pod: removal.Pod, Images: change.Images, Sidecars: change.Sidecars, Turn: removal.Turn,
		AsBudgetsAllow: f.asksBudgets(m, change),
		Resized:        slices.Sorted(maps.Keys(change.Resources)), Revision: goal, Labels: with(change.Labels, identity.RevisionLabel, goal),
		Annotations: change.Annotations}
	if change.Disturbs() || isRestarting(m.pod) {
		update.Annotations = with(change.Annotations, v1.InPlaceAnnotation, nextNote(m.pod, goal, change, f.world.Now).text())
	}
	asked := removal.Reason == action.DeleteUnready || f.agreed(m)
	if f.inPlacePolicy() != v1.OnlyInPlaceUpdatePolicyType && asked && f.ownersAllow(m) {
		update.Otherwise = &removal
	}
	return update
}

// with is a copy of values with another one.
func with(values map[string]*string, key, value string) map[string]*string {
	all := make(map[string]*string, len(values)+1)
	maps.Copy(all, values)
	all[key] = &value
	return all
}

// isRelabelled reports whether a member gets to its revision by a change of labels and annotations
// alone, so that it serves throughout.
func (f *facts) isRelabelled(d *draft, m member) bool {
	if f.inPlacePolicy() == "" {
		return false
	}
	change := f.changeOf(d, m)
	return change.Prevented == "" && !change.Disturbs()
}

// changeOf is the change that brings the pod of a member to the revision that the member should
// have.
func (f *facts) changeOf(d *draft, m member) *identity.InPlaceChange {
	switch {
	case f.hasOtherClaims(m):
		return &identity.InPlaceChange{Prevented: "the pod does not mount the claims of the current templates"}
	case f.hasOtherOverride(m):
		return &identity.InPlaceChange{Prevented: "the pod was created with a different override"}
	case f.asksConditions() && f.targetRevision(m) == f.update && !f.world.SetsConditions:
		return &identity.InPlaceChange{
			Prevented: "steps of the update require pod conditions, and the controller has no right to reset earlier ones"}
	}
	return f.withDrain(m, f.changeBetween(d, m))
}

// changeBetween is the change of a pod from its revision to the revision that it should have. It is
// computed once for all members that have the same override, unless pods of these revisions are
// rendered for each member.
func (f *facts) changeBetween(d *draft, m member) *identity.InPlaceChange {
	from, to := revisionOf(m.pod), f.targetRevision(m)
	key := [3]string{from, to.name, f.overrides.Hash(m.ordinal)}
	if d.isRendered(f, from) || d.isRendered(f, to.name) {
		key[2] = m.pod.Name
	}
	if known := d.changes[key]; known != nil {
		return known
	}
	if d.changes == nil {
		d.changes = map[[3]string]*identity.InPlaceChange{}
	}
	d.changes[key] = f.compareRevisions(m.ordinal, from, to)
	return d.changes[key]
}

func (f *facts) compareRevisions(ordinal int, from string, to *revision) *identity.InPlaceChange {
	before, err := f.recordedAs(from)
	if err != nil {
		return &identity.InPlaceChange{Prevented: fmt.Sprintf("revision %s: %s", words.Sanitize(from), words.SanitizeText(err.Error()))}
	}
	after, err := f.recordedAs(to.name)
	if err != nil {
		return &identity.InPlaceChange{Prevented: fmt.Sprintf("revision %s: %s", to.name, words.SanitizeText(err.Error()))}
	}
	made, wrong := f.overrides.Rendered(before, ordinal)
	if wrong != nil {
		return &identity.InPlaceChange{Prevented: fmt.Sprintf("revision %s: %s", words.Sanitize(from), words.SanitizeText(wrong.For(ordinal)))}
	}
	wanted, wrong := f.overrides.Rendered(after, ordinal)
	if wrong != nil {
		return &identity.InPlaceChange{Prevented: fmt.Sprintf("revision %s: %s", to.name, words.SanitizeText(wrong.For(ordinal)))}
	}
	change := identity.ChangeInPlace(made, wanted, f.world.Resizes)
	change.Prevented = words.SanitizeText(change.Prevented)
	return &change
}

// recordedAs is what a revision of the set records, with all defaults. It is not kept for the next
// sync: members may have many revisions, and each is read once per sync, unless it is rendered.
func (f *facts) recordedAs(name string) (identity.Source, error) {
	if name == f.update.name {
		return identity.SourceOf(f.world.Set), nil
	}
	at := f.history.index(name)
	if at < 0 {
		return identity.Source{}, errNoRecord
	}
	source, err := identity.Recorded(f.history[at].Data.Raw)
	if err != nil {
		return identity.Source{}, err
	}
	return defaulted(source), nil
}

// defaultGrace is the termination grace period of a pod that does not specify one.
const defaultGrace = 30 * time.Second

// resizeOrGiveUp resizes members, and recreates members that wait for a restart or a resize that
// does not happen. If a container ends by itself just before its restart, it counts as restarted.
// If the change is then reverted, its node finds that it already runs the right image. No status
// distinguishes such a wait from a wait for a slow node, so the controller gives up after a time:
// to recreate the member helps in both cases. For a resize, the node itself reports why it does not
// do it.
//
// Members are handled in the order of updates. A member that serves is recreated only if no more
// than maxUnavailable members are down; in an ordered set, only if all others serve. Members that
// wait here count as serving, because two of them would otherwise wait for each other.
func resizeOrGiveUp(f *facts, d *draft, left map[int]bool) {
	if len(left) == 0 {
		return
	}
	down := 0
	for _, m := range f.members {
		down += boolToInt(f.isDown(m))
	}
	for m := range f.inUpdateOrder() {
		if !left[m.ordinal] {
			continue
		}
		others, goes := down-boolToInt(f.isDown(m)), false
		if overdue, _ := f.isOverdue(m.pod); overdue {
			goes = f.giveUpRestart(d, m, others)
		} else {
			goes = f.resizeNext(d, m, others)
		}
		if goes {
			down = others + 1
		}
	}
}

// isDown reports whether a desired member does not serve, or is about to stop.
func (f *facts) isDown(m member) bool {
	if m.pod == nil || isTerminating(m.pod) {
		return true
	}
	if overdue, _ := f.isOverdue(m.pod); isRestarting(m.pod) && !overdue && !noteOf(m.pod).awaitsHost(m.pod) {
		return true
	}
	at, ready := f.availableAt(m.pod)
	return !ready || f.world.Set.Spec.MinReadySeconds > 0 && at.After(f.world.Now)
}

// restartedUntil is the time by which containers of a pod should have been stopped for their
// restart, or should have been resized: they may take their whole grace period, and the node may
// take as long as the progress deadline of the set.
func (f *facts) restartedUntil(pod *corev1.Pod, note inPlaceNote) time.Time {
	grace := defaultGrace
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil {
		grace = v1.Seconds(*seconds)
	}
	return latest(note.begun(), resizingSince(pod)).Add(grace + f.progressDeadline())
}

// isOverdue reports whether containers of a pod should have been restarted or resized by now, or
// cannot be resized. While that may still happen, left is the time that remains. A pod that does
// not run yet waits for more than that, and still would if it were recreated.
func (f *facts) isOverdue(pod *corev1.Pod) (overdue bool, left time.Duration) {
	if !isRestarting(pod) || isTerminating(pod) || pod.Status.Phase != corev1.PodRunning {
		return false, 0
	}
	note := noteOf(pod)
	switch {
	case !isObserved(pod):
		return false, 0
	case note.isInfeasible(pod):
		return true, 0
	case note.mayChange(pod) && !note.isBeingResized(pod):
		return false, 0
	}
	left = max(f.restartedUntil(pod, note).Sub(f.world.Now), 0)
	return left == 0, left
}

// servesWhileWaiting reports whether a member serves while it waits for a restart that does not
// happen, or for the cluster to accept a resize.
func (f *facts) servesWhileWaiting(m member) bool {
	return m.pod != nil && isRestarting(m.pod) && !f.isDown(m)
}

// nextOverdue is the time until the first restart or resize is given up.
func (f *facts) nextOverdue() (next time.Duration) {
	if f.isFrozen() || f.world.Set.DeletionTimestamp != nil {
		return 0
	}
	for m := range f.all() {
		_, left := f.isOverdue(m.pod)
		next = soonest(next, left)
	}
	return next
}

// giveUpRestart recreates a member if that many others may be down, and reports whether it does.
func (f *facts) giveUpRestart(d *draft, m member, others int) bool {
	note := noteOf(m.pod)
	what, why := note.unrestartedText(m.pod), action.DeleteUnrestarted
	if note.isBeingResized(m.pod) {
		what, why = note.unresizedText(m.pod), action.DeleteUnresized
	}
	switch {
	case f.isRolloutBlocked():
		d.wait("pod %s is recreated when the update continues: %s", m.pod.Name, what)
	case f.inPlacePolicy() == v1.OnlyInPlaceUpdatePolicyType, f.world.Set.Spec.UpdateStrategy.Type == v1.OnDeleteStatefulSetStrategyType:
		d.stall(v1.ReasonInPlaceImpossible, "pod %s must be recreated, which the update strategy leaves to you: %s; delete the pod", m.pod.Name,
			what)
	case !returnable(f, d, m) || d.waitForOwners(f, m) || awaitsClaims(f, d, m):
	case !f.affords(m, others):
		d.wait("pod %s is recreated when %s: %s", m.pod.Name, f.whenFree(), what)
	default:
		d.warn(v1.ReasonInPlaceFallback, "pod %s is recreated at revision %s: %s", m.pod.Name, f.targetRevision(m).name, what)
		d.wait("pod %s is being recreated: %s", m.pod.Name, what)
		d.add(remove(f, d, m, action.DeletePod{Reason: why})...)
		return true
	}
	return false
}

// affords reports whether a member whose restart or resize is given up may be recreated while that
// many others are down.
func (f *facts) affords(m member, others int) bool {
	return isBroken(m.pod) || others < f.maxUnavailable() && (!f.ordered || others == 0)
}

// whenFree says when a member that serves may be taken out of service.
func (f *facts) whenFree() string {
	if f.ordered {
		return "all others are available"
	}
	most := f.maxUnavailable()
	return fmt.Sprintf("that leaves no more than %d %s unavailable", most, words.Plural("member", most))
}
