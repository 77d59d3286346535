//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import "statefulset.dev/test/bench/measure"

// allCases are the cases in the order in which they are run.
func allCases() []benchCase {
	return []benchCase{
		parallelCase("parallel", "a Parallel set of 1,000 members is created", 1000, 1),
		parallelCase("parallel-claim", "a Parallel set of 300 members with a claim each is created", 300, 2, withClaim),
		parallelCase("parallel-claims", "a Parallel set of 200 members with three claims each is created", 200, 4, withClaims(3)),
		orderedCase("ordered", "a set of 100 members is created, one after the other", 1),
		orderedCase("ordered-claim", "a set of 100 members with a claim each is created, one after the other", 2, withClaim),
		orderedCase("ordered-claims", "a set of 100 members with three claims each is created, one after the other", 4, withClaims(3)),
		updateCase(),
		updateWideCase(),
		scaleDownCase(),
		setsCase("sets", "100 sets of 3 members are created at once", 100, 3),
		setsCase("sets-many", "1,000 sets of one member are created at once", 1000, 1),
		besideCase(),
		apiCase(),
		listCase(),
		watchCase(),
		lookCase(),
		memoryCase(),
		restartCase(),
		quietCase(),
	}
}

// against is a goal: so many times as good as another side.
func against(other side, ratio float64) measure.Goal {
	return measure.Goal{Against: other.name, Ratio: ratio}
}

// beside shows another side without a goal.
func beside(other side) measure.Goal { return measure.Goal{Against: other.name} }

// atMost is a goal that depends on nobody else.
func atMost(limit float64) measure.Goal { return measure.Goal{Bounded: true, Limit: limit} }

// withHostWrites adds what the audit log tells. The floor is what cannot be saved: one
// request for each pod and claim that is created, and for each pod that is deleted.
func withHostWrites(floor float64, results ...measure.Result) []measure.Result {
	return append(results,
		measure.Result{Measure: "host writes for members", Unit: "per member", Better: measure.Less,
			Goals: []measure.Goal{atMost(1.05 * floor), beside(builtIn())}},
		measure.Result{
			Measure: "host writes", Unit: "per member", Better: measure.Less, Goals: []measure.Goal{beside(builtIn()), beside(builtInDefault())}})
}

// perMember is how long a member takes, when one waits for the other. Nobody can be faster
// than the bare client, so being close to it is the other half of the goal.
func perMember(ratio float64) measure.Result {
	return measure.Result{Measure: "time", Unit: "ms per member", Better: measure.Less, Goals: []measure.Goal{
		against(builtIn(), ratio), beside(builtInDefault()), against(bareClient(), 1/1.15),
	}}
}
