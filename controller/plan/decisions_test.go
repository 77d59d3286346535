// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"

	v1 "statefulset.dev/api/apps/v1"
)

// factsAfter are the facts of a set after a script in the language of the sequences, its commands parted by " / ".
func factsAfter(t *testing.T, script string) *facts {
	t.Helper()
	s := &stage{host: newHost(t, Compute)}
	for command := range strings.SplitSeq(script, " / ") {
		s.tell(strings.Fields(command))
	}
	world := s.world()
	return survey(world, &reader{known: world.Cache})
}

// TestTarget says at which revision a member is to be, and how its pod gets there.
func TestTarget(t *testing.T) {
	for _, test := range []struct {
		why, script string
		ordinal     int
		goal        string
		how         method
	}{
		{"nothing is to be updated", "set replicas=3 / settle", 2, "current", keep},
		{"an update reaches all members", "set replicas=3 / settle / set image=nginx:2 / look", 0, "update", recreate},
		{"a member below the partition is left alone", "set replicas=3 / settle / set image=nginx:2 partition=2 / look", 1, "current", keep},
		{"a member at the partition is updated", "set replicas=3 / settle / set image=nginx:2 partition=2 / look", 2, "update", recreate},
		{"a member that was updated stays", "set replicas=3 / settle / set image=nginx:2 partition=2 / settle", 2, "update", keep},
		{"a pod that is lost below the partition returns as it was",
			"set replicas=3 / settle / set image=nginx:2 partition=2 / settle / kill web-0 / gone web-0", 0, "current", keep},
		{"OnDelete leaves pods to people", "set replicas=3 strategy=OnDelete / settle / set image=nginx:2 / look", 2, "update", keep},
		{"Recreate takes all", "set replicas=3 strategy=Recreate / settle / set image=nginx:2 / look", 0, "update", recreate},
		{"containers are restarting in place", "set replicas=3 inPlace=IfPossible / settle / set image=nginx:2 / look / look", 2, "update",
			awaitRestart},
		{"a step has not reached the member", "set replicas=3 steps=1 / settle / set image=nginx:2 / look", 1, "current", keep},
		{"a step has reached the member", "set replicas=3 steps=1 / settle / set image=nginx:2 / look", 2, "update", recreate},
		{"an aborted update goes back", "set replicas=3 steps=1:manual / settle / set image=nginx:2 / settle / abort", 2, "current", recreate},
	} {
		t.Run(test.why, func(t *testing.T) {
			f := factsAfter(t, test.script)
			goal, how := f.target(f.members[test.ordinal])
			want := map[string]*revision{"current": f.current, "update": f.update}[test.goal]
			if goal.name != want.name || how != test.how {
				t.Errorf("member %d: got revision %s and method %d, want %s and %d", test.ordinal, goal.name, how, want.name, test.how)
			}
		})
	}
}

// TestIsStranded says for which members it leads nowhere to wait.
func TestIsStranded(t *testing.T) {
	for _, test := range []struct {
		why, script string
		ordinal     int
		want        bool
	}{
		{"a pod that is ready", "set replicas=3 / settle / set image=nginx:2 / look", 0, false},
		{"a pod that is broken at the revision that it is to have", "set replicas=3 / settle / unready web-0", 0, false},
		{"a pod that is broken at the revision of before", "set replicas=3 / settle / unready web-0 / set image=nginx:2", 0, true},
		{"a pod that is broken at a revision that is superseded",
			"set replicas=3 / settle / set image=nginx:2 / look / gone web-2 / look / set image=nginx:3", 2, true},
		{"one that the update of a current revision has broken already does not take another one with it",
			"set replicas=3 / settle / set image=nginx:2 / look / gone web-2 / look / unready web-0", 0, false},
		{"OnDelete replaces no pod", "set replicas=3 strategy=OnDelete / settle / unready web-0 / set image=nginx:2", 0, false},
	} {
		t.Run(test.why, func(t *testing.T) {
			f := factsAfter(t, test.script)
			if got := f.isStranded(f.members[test.ordinal]); got != test.want {
				t.Errorf("member %d is stranded: got %t, want %t", test.ordinal, got, test.want)
			}
		})
	}
}

// TestBudgetOfUnavailableMembers says how many members may be taken from service, and how many that serve removed.
func TestBudgetOfUnavailableMembers(t *testing.T) {
	for _, test := range []struct {
		why, script string
		open, room  int
	}{
		{"all members are available", "set replicas=3 / settle", 1, 1},
		{"as many are unavailable as may be", "set replicas=3 / settle / unready web-1", 0, 0},
		{"more may be", "set replicas=3 policy=Parallel maxUnavailable=2 / settle / unready web-1", 1, 1},
		{"more are unavailable than may be", "set replicas=3 / settle / unready web-1 web-2", -1, -1},
		{"a member that its gates are asked about is taken, and serves until it is removed",
			"set replicas=3 gates=handed-over / settle / set image=nginx:2 / look / look", 0, 1},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := factsAfter(t, test.script).disruptionBudget(); got.remaining != test.open || got.removals != test.room {
				t.Errorf("got %d to take and %d to remove, want %d and %d", got.remaining, got.removals, test.open, test.room)
			}
		})
	}
}

// TestWhoseTurnIsFirst compares two members in the order of an update.
func TestWhoseTurnIsFirst(t *testing.T) {
	for _, test := range []struct {
		why       string
		a, b      member
		direction v1.UpdateDirectionType
		want      int
	}{
		{"the higher ordinal, as in apps/v1", member{ordinal: 2}, member{ordinal: 1}, "", -1},
		{"the lower ordinal, if the set asks for it", member{ordinal: 1}, member{ordinal: 2}, v1.AscendingUpdateDirectionType, -1},
		{"one that the set names first", member{ordinal: 0, place: -1}, member{ordinal: 2}, "", -1},
		{"the one that is named earlier", member{ordinal: 0, place: -2}, member{ordinal: 2, place: -1}, "", -1},
		{"one whose labels say last comes last", member{ordinal: 2, class: 1}, member{ordinal: 0}, "", 1},
		{"although it is named first", member{ordinal: 2, class: 1, place: -1}, member{ordinal: 0}, "", 1},
		{"a later class comes later", member{ordinal: 2, class: 2}, member{ordinal: 0, class: 1}, "", 1},
	} {
		if got := compareTurns(test.a, test.b, test.direction); got != test.want {
			t.Errorf("%s: got %d, want %d", test.why, got, test.want)
		}
	}
}

// TestWhenAnUpdateIsComplete says when the revision of an update becomes the current one.
func TestWhenAnUpdateIsComplete(t *testing.T) {
	for _, test := range []struct {
		why, script string
		want        bool
	}{
		{"all members are updated and ready", "set replicas=3 / settle / set image=nginx:2 / settle", true},
		{"one is not updated", "set replicas=3 / settle / set image=nginx:2 partition=1 / settle", false},
		{"one is not ready", "set replicas=3 / settle / set image=nginx:2 / settle / unready web-0", false},
		{"a member that is not wanted is there", "set replicas=3 / settle / set image=nginx:2 / settle / set replicas=2", false},
		{"the template has no record yet", "set replicas=3 / settle / set image=nginx:2", false},
		{"no members, nothing recorded of the update", "set replicas=0 / settle / set image=nginx:2 / settle", true},
		{"no members, and an update that is rolled back if it fails",
			"set replicas=0 steps=1 failurePolicy=60 / settle / set image=nginx:2 / settle", false},
		{"the update is paused", "set replicas=3 / settle / set image=nginx:2 paused=true / settle", false},
		{"the set is held", "set replicas=3 / settle / hold", false},
	} {
		t.Run(test.why, func(t *testing.T) {
			f := factsAfter(t, test.script)
			status := counted(f, &draft{})
			if got := isComplete(f, &status); got != test.want {
				t.Errorf("complete: got %t, want %t (%d of %d pods updated, %d ready)", got, test.want, status.UpdatedReplicas, status.Replicas,
					status.ReadyReplicas)
			}
		})
	}
}
