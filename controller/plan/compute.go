// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"

	"statefulset.dev/identity"
)

// Compute decides what to do about a world.
func Compute(world World) Plan {
	if identity.IsSetAside(world.Set) {
		return setAside(world)
	}
	reads := &reader{known: world.Records}
	f := survey(world, reads)
	d := decide(f, reads)
	stopped := f.evaluationEnded(d)
	status, says, requeueAfter := report(f, d)
	return Plan{
		First: d.first, Chains: d.chains, Aside: d.aside,
		Warnings: d.warnings, Waiting: cmp.Or(d.waitingFor(), f.growing(), f.heldBack()),
		Status: status, Conditions: says,
		Unavailable: f.roster.Len() - f.available, MaxUnavailable: f.maxUnavailable(),
		RequeueAfter: requeueAfter, PutOff: d.retry > 0, Stopped: stopped,
		Records: reads.read.with(world.Set.UID, f.endings), Reads: reads.objects, Lost: f.supporting.lostSecrets(),
	}
}
