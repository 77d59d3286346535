// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/words"
	"statefulset.dev/identity/decision"
)

// tellRollout reports an update that has failed, is being rolled back, or cannot be rolled back.
func tellRollout(f *facts, d *draft) verdict {
	r := f.rollout
	if r == nil {
		return proceed
	}
	switch {
	case f.rollsBack() && f.isRolledBack():
		d.blocked(v1.ReasonRolledBack,
			"the update to %s was rolled back: %s; change spec.template, or retry the update with kubectl sts rollout restart%s", f.update.name,
			f.whyRolledBack(), f.unavailableText())
	case f.paused():
	case f.rollsBack():
		d.warn(v1.ReasonRollingBack, "the update to %s is being rolled back: %s", f.update.name, f.whyRolledBack())
	case f.isAborted() && len(r.superseded) > 0:
		message := fmt.Sprintf(
			"the update to %s was aborted and cannot be rolled back, because %s; change spec.template, or continue the update: %s", f.update.name,
			f.neverCompleted(), decision.GoOn(f.world.Set))
		d.warn(v1.ReasonRolloutFailed, "%s", message)
		d.blocked(v1.ReasonRolloutFailed, "%s", message)
	case r.at.failure != nil:
		message := f.rolloutText() + ": " + r.at.failure.message
		if f.failsBack() && len(r.superseded) > 0 {
			message += "; it cannot be rolled back, because " + f.neverCompleted()
		}
		d.warn(v1.ReasonRolloutFailed, "%s", message)
		d.blocked(v1.ReasonRolloutFailed, "%s", message)
	}
	return proceed
}

// isRolledBack reports whether all members that the update had reached have returned to the current
// revision.
func (f *facts) isRolledBack() bool { return len(f.rollout.let) == 0 }

func (f *facts) whyRolledBack() string {
	switch stored := &f.rollout.stored; {
	case stored.Aborted:
		return f.whoAborted() + " has aborted it"
	case stored.Failure != nil:
		return stored.Failure.Message
	default:
		return "it has failed"
	}
}

// neverCompleted says which members have no revision to return to.
func (f *facts) neverCompleted() string {
	var names []string
	for _, ordinal := range slices.Sorted(maps.Keys(f.rollout.superseded)) {
		if len(names) == words.FewNames {
			names = append(names, "others")
			break
		}
		names = append(names, f.podName(member{ordinal: ordinal}))
	}
	return strings.Join(names, ", ") + " ran a revision that was never completed"
}

// rolloutText describes the state of an update that has steps, or that has failed.
func (f *facts) rolloutText() string {
	p := &f.rollout.at
	if len(f.steps()) == 0 {
		return fmt.Sprintf("%d of %d members are at %s", len(p.updated), f.roster.Len(), f.update.name)
	}
	at := fmt.Sprintf("step %d/%d", p.number, len(f.steps()))
	if !p.inSteps {
		at = "all steps are done"
	}
	return fmt.Sprintf("%s: %d of %d at %s", at, len(p.updated), f.roster.Len(), f.update.name)
}

// stepState says what an update with steps waits for while it has nothing to do: a reason for
// programs and a message for people. The reason is empty if the set has no such update.
func (f *facts) stepState() (word, text string) {
	if f.rollout == nil || len(f.steps()) == 0 && f.paused() {
		return "", ""
	}
	p := &f.rollout.at
	text = f.rolloutText()
	switch {
	case f.roster.Len() == 0, !p.inSteps && !f.rollout.begins && !f.rollsBack():
		return "", "" // the members determine what remains to be done
	case f.rollsBack():
		return v1.ReasonRollingBack, fmt.Sprintf("the update to %s is being rolled back: %s", f.update.name, f.whyRolledBack())
	case f.paused():
		return v1.ReasonPaused, text
	case p.baking == nil:
		return v1.ReasonUpdating, text
	case !p.baked:
		return v1.ReasonBaking, text + ", baking until " + words.Clock(f.bakedAt(p))
	case p.unmet != nil:
		return v1.ReasonWaitingForConditions,
			fmt.Sprintf("%s, waiting for condition %s of pod %s", text, words.Foreign(p.unmet.name), p.unmet.m.pod.Name)
	case !p.isDone(f.rollout.stored.PromotedStep):
		return v1.ReasonWaitingForPromotion,
			fmt.Sprintf("%s, waiting for approval: kubectl sts rollout promote --step=%d", text, p.number)
	default:
		return v1.ReasonUpdating, text
	}
}
