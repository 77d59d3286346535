// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"statefulset.dev/test/outcome"
)

// TestOutcomes lets random things happen to random sets, and has their outcomes judged by what a user
// sees. Each part of the sequences is about something; SEQUENCES and SEED are those of
// TestRandomSequences. ORACLE is a regular expression: then only a report that it matches, together
// with its script, fails the test, and sequences in which an oracle reports something else end there.
func TestOutcomes(t *testing.T) {
	names, only := slices.Sorted(maps.Keys(outcomeThemes)), regexp.MustCompile(os.Getenv("ORACLE"))
	drawing(t, (sequences(t)+len(names)-1)/len(names))
	inShards(t, len(names), func(part int) string { return names[part] }, func(t *rapid.T, part int) {
		playOutcome(t, Compute, only, outcomeThemes[names[part]])
	})
}

// outcomeThemes are what sequences are about whose outcomes are judged.
var outcomeThemes = map[string]theme{
	"clocks": {[]string{"claims", "scaledAfterSeconds"},
		[]string{"skew", "skew", "behind", "behind", "replicas", "replicas", "gone", "wait", "scaledAfterSeconds"}},
	"refusals": {[]string{"claims", "whenScaled", "policy"},
		[]string{"takeback", "takeback", "whenScaled", "refuse owners", "refuse owners", "allow", "image", "image", "looks"}},
	"disks": {[]string{"claims", "whenScaled", "whenDeleted"}, []string{"whenScaled", "whenDeleted", "replicas", "replicas", "takeback",
		"takeback", "scaledAfterSeconds", "kill", "gone", "unready", "sicken", "gc", "evict", "image", "claims", "replace", "strategy"}},

	"paused": pausedUpdates, "failing": failingUpdates, "undone": undoneUpdates, "stepped": steppedUpdates, "baked": bakedUpdates,
	"divided": dividedUpdates, "gated": gatedUpdates, "annotated": annotatedClaims,
	"ending": endingPods, "broken": brokenSurplus, "growing": growingClaims, "drained": drainedPods, "asked": askedPods,
	"restarted": askedRestarts, "exported": exportedClaims, "patient": patientRestarts,
	"bounded": boundedChanges, "ordered": orderedUpdates, "removed": orderedScaleIns, "replaced": replacedMembers,
}

// theirs are the events that happen to sets whose outcomes are judged, besides those of the theme.
var theirs = slices.Concat(always, weighted([]kind{
	{6, "look"}, {2, "looks"}, {3, "rest"}, {1, "takeback"}, {2, "wait"}, {1, "kill"}, {1, "evict"}, {1, "fail"}, {1, "sicken"}, {1, "cure"},
	{1, "hang"}, {1, "skew"}, {1, "losestatus"}, {1, "refuse"}, {1, "allow"}, {1, "crash"}, {1, "stale"},
	{2, "replicas"}, {1, "image"}, {1, "strategy"}, {1, "hold"}, {1, "unhold"}, {1, "replace"}, {1, "reserved"}, {1, "whenScaled"},
	{1, "whenDeleted"}, {1, "weak"}, {1, "shy"},
}))

// drawOutcomeEvents draws what happens to a set whose outcomes are judged. A sequence has a few kinds of
// events of its own.
func drawOutcomeEvents(about theme) *rapid.Generator[[]event] {
	return rapid.Custom(func(t *rapid.T) []event {
		menu := slices.Concat(theirs, about.events, about.events)
		for range choice([]int{0, 4, 8}, number.Draw(t, "kinds besides")) {
			kind := choice(slices.Concat(about.events, theirs, kinds), number.Draw(t, "kind of the sequence"))
			if !slices.Contains(beyondJudgement, kind) {
				menu = append(menu, kind, "look", kind)
			}
		}
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
			return event{choice(menu, number.Draw(t, "kind")), number.Draw(t, "which"), number.Draw(t, "value")}
		}), fewestEvents, mostEvents).Draw(t, "events")
	})
}

// beyondJudgement are events after which no oracle could say what has to come out.
var beyondJudgement = []string{"converge", "remove", "deleteset", "newset", "steal", "stealclaim", "orphan", "unlabel", "mislabel",
	"orphanrevisions", "conditions", "resizes", "stranger", "share"}

// playOutcome draws a sequence, plays it with a planner, and has the outcome judged. Only reports that
// match fail the test.
func playOutcome(t *rapid.T, compute func(World) Plan, only *regexp.Regexp, about theme) {
	fields, events := drawSet(about).Draw(t, "set"), drawOutcomeEvents(about).Draw(t, "events")
	ending := number.Draw(t, "ending")
	w := &witness{T: t, only: only}
	defer func() {
		if stopped := recover(); stopped != nil && stopped != w {
			panic(stopped)
		}
	}()
	w.stage = &stage{host: newHost(w, compute)}
	w.compute = compute
	w.judge = outcome.NewJudge(func(oracle, message string) { w.Fatalf("[outcome %s] %s", oracle, message) })
	w.liveOutcome(fields, events, ending)
}

// liveOutcome plays a sequence to its end: what was drawn happens, the host gives up its resistance, and
// the set comes to rest, is deleted, or both.
func (s *stage) liveOutcome(fields []string, events []event, ending int) {
	s.happen("set", fields...)
	s.happen("rest")
	for _, e := range events {
		if words := s.outcomeCommandFor(e); words != nil {
			s.happen(words[0], words[1:]...)
		}
	}
	s.happen("allow")
	if s.unknown != nil {
		s.happen("known")
	}
	s.happen("unhold")
	if ending%3 > 0 {
		s.happen("rest")
	} else {
		for range choice([]int{1, 4, 8}, ending/3) {
			s.happen("look")
		}
	}
	if ending%2 == 0 {
		s.happen("setgone")
	}
}

// outcomeCommandFor is commandFor, with what happens only to sets whose outcomes are judged.
func (s *stage) outcomeCommandFor(e event) []string {
	if words, is := s.rolloutCommandFor(e); is {
		return words
	}
	if words, is := s.livenessCommandFor(e); is {
		return words
	}
	able := slices.Sorted(maps.Keys(s.pods))
	switch e.Kind {
	case "rest":
		if len(s.refuse) > 0 || s.unknown != nil {
			return nil
		}
		return []string{e.Kind}
	case "skew":
		return []string{e.Kind, choice([]string{"0s", "720h", "-720h", "1h", "-1h", "30s", "-30s"}, e.Value)}
	case "behind": // another leader, whose clock was right
		return []string{"skew", choice([]string{"-720h", "0s"}, e.Value)}
	case "refuse owners":
		return []string{"refuse", "set owners of claim: no"}
	case "losestatus", "shy", "looks":
		return []string{e.Kind}
	case "takeback":
		return []string{e.Kind, fmt.Sprint(e.Value % (int(*s.set.Spec.Replicas) + 1))}
	case "weak":
		return []string{"set", "image=" + weakImage}
	case "hang", "sicken", "cure":
		return on(e, able)
	case "infeasible":
		return on(e, slices.Sorted(maps.Keys(s.claims)))
	}
	return s.commandFor(e)
}

// actorOf is who does what a command says.
func actorOf(command string) outcome.Actor {
	if slices.Contains([]string{"set", "replace", "kill", "killclaim", "dropclaim", "hold", "unhold", "deleteset", "newset", "setgone",
		"promote", "promoteall", "abort", "orphan", "steal", "stealclaim", "unlabel", "mislabel", "true", "false"}, command) {
		return outcome.User
	}
	return outcome.Cluster
}
