// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"flag"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"statefulset.dev/controller/plan/action"
)

// fewSequences is how many sequences are tried unless the environment variable
// SEQUENCES asks for more.
const fewSequences = 400

// shards is into how many parts the sequences are divided. It says which are drawn, so it
// is the same on all machines.
const shards = 4

// enoughSequences is how many lead to every action, if all is well.
const enoughSequences = 5000

// TestRandomSequences lets random things happen to random sets and checks every
// plan against the invariants, and that every sequence ends at rest in the desired
// state once nothing more happens. SEQUENCES says how many sequences are tried; if
// they are many, -v shows how often what was planned.
//
// The sequences are those of a fixed seed, so that the verdict is about the planner and not
// about luck; the environment variable SEED names another one, and 0 draws anew.
//
// A failure prints the shortest script found for it. Put into a file below
// testdata/sequences, it is played by TestSequences.
func TestRandomSequences(t *testing.T) {
	drawing(t, (sequences(t)+shards-1)/shards)
	seen := make([]coverage, shards)
	for i := range seen {
		seen[i] = coverage{}
	}
	inShards(t, shards, strconv.Itoa, func(t *rapid.T, i int) { playDrawn(t, seen[i].of(Compute), "", theme{}) })
	for _, more := range seen[1:] {
		seen[0].add(more)
	}
	if sequences(t) >= enoughSequences {
		seen[0].expect(t)
	}
}

// inShards checks parts of a test at the same time, each with a seed of its own.
func inShards(t *testing.T, parts int, name func(part int) string, play func(t *rapid.T, part int)) {
	t.Run("shards", func(t *testing.T) {
		var beginning sync.Mutex
		for i := range parts {
			t.Run(name(i), func(t *testing.T) {
				t.Parallel()
				beginning.Lock() // rapid reads its seed before it draws
				if err := flag.Lookup("rapid.seed").Value.Set(seedOf(t, name(i))); err != nil {
					t.Errorf("setting the seed: %v", err)
				}
				begun := sync.OnceFunc(beginning.Unlock)
				rapid.Check(t, func(t *rapid.T) {
					begun()
					play(t, i)
				})
			})
		}
	})
}

// sequences is how many sequences to try.
func sequences(t *testing.T) int {
	text := os.Getenv("SEQUENCES")
	if text == "" {
		return fewSequences
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("SEQUENCES=%q: want a number of sequences, at least 1", text)
	}
	return n
}

// drawing has rapid draw that many sequences of the seed asked for.
func drawing(t *testing.T, checks int) {
	t.Helper()
	setFlag(t, "rapid.checks", strconv.Itoa(checks))
	setFlag(t, "rapid.nofailfile", "true")
	setFlag(t, "rapid.seed", seedOf(t, "0"))
}

// seedOf is the seed of a shard, unless the command line gives one, which repeats a failure. It goes by the name of
// the shard, so that one more shard does not change what the others draw.
func seedOf(t *testing.T, shard string) string {
	t.Helper()
	text := cmp.Or(os.Getenv("SEED"), "1")
	seed, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("SEED=%q: want a number from 0, which draws anew, to %d", text, uint32(math.MaxUint32))
	}
	given := ""
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "rapid.seed" {
			given = f.Value.String()
		}
	})
	switch {
	case given != "":
		return given
	case seed == 0:
		return "0"
	default:
		number, err := strconv.ParseUint(shard, 10, 32)
		if err != nil {
			number = uint64(crc32.ChecksumIEEE([]byte(shard)))
		}
		return strconv.FormatUint(seed+number<<32, 10)
	}
}

// setFlag sets a flag of rapid, which has no other way, for as long as a test runs.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	given := flag.Lookup(name)
	before := given.Value.String()
	if err := given.Value.Set(value); err != nil {
		t.Fatalf("setting flag %s: %v", name, err)
	}
	t.Cleanup(func() {
		if err := given.Value.Set(before); err != nil {
			t.Errorf("setting flag %s back: %v", name, err)
		}
	})
}

// playDrawn draws a sequence and plays it with the given planner. If a rule is
// given, only what breaks it fails the test; what breaks others ends the sequence.
func playDrawn(t *rapid.T, compute func(World) Plan, rule string, about theme) {
	fields, inPeace, events := drawSet(about).Draw(t, "set"), rapid.Bool().Draw(t, "comes up in peace"), drawEvents(about).Draw(t, "events")
	w := &witness{T: t, rule: rule}
	defer func() {
		if stopped := recover(); stopped != nil && stopped != w {
			panic(stopped)
		}
	}()
	w.stage = &stage{host: newHost(w, compute)}
	w.set.Status.Conditions = append(w.set.Status.Conditions, foreign)
	w.live(fields, inPeace, events)
}

// witness ends a failing sequence with its script and what happened.
type witness struct {
	*rapid.T
	*stage
	rule string
	// only is what a failure or its script has to say to fail the test, nil for anything.
	only *regexp.Regexp
}

func (w *witness) Helper() { w.T.Helper() }

func (w *witness) Fatalf(format string, args ...any) {
	w.T.Helper()
	what := fmt.Sprintf(format, args...)
	if !strings.Contains(what, "["+w.rule) || w.only != nil && !w.only.MatchString(what+"\n"+strings.Join(w.script, "\n")) {
		panic(w)
	}
	w.T.Fatalf("%s\n\nscript:\n%s\n%s\nwhat happened last:\n%s", what, strings.Join(w.script, "\n"), separator, lastLines(w.story()))
}

// lastLines keeps what is worth reading of a long story, of which the script can
// tell the rest.
func lastLines(story string) string {
	const most = 60
	lines := strings.SplitAfter(story, "\n")
	return strings.Join(lines[max(len(lines)-most, 0):], "")
}

// coverage counts what plans contain, so that an invariant about what never
// happens does not pass for one that holds. Every plan is made, and counted, twice.
type coverage map[string]int

// of is a planner whose plans are counted.
func (c coverage) of(compute func(World) Plan) func(World) Plan {
	return func(world World) Plan {
		p := compute(world)
		c["plans"]++
		for _, act := range p.All() {
			c[nameOf(act)]++
		}
		for _, condition := range p.Status.Conditions {
			c[fmt.Sprintf("%s=%s %s", condition.Type, condition.Status, condition.Reason)]++
		}
		return p
	}
}

func nameOf(act action.Action) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", act), "plan.")
	if a, ok := act.(action.DeletePod); ok {
		turn, _, _ := strings.Cut(a.Turn, ",")
		return strings.TrimSpace(name + " " + string(a.Reason) + " " + turn)
	}
	return name
}

func (c coverage) add(more coverage) {
	for what, n := range more {
		c[what] += n
	}
}

// expect fails the test if there is an action that no sequence led to.
func (c coverage) expect(t *testing.T) {
	for what, n := range c {
		t.Logf("%9d %s", n, what)
	}
	for _, act := range []action.Action{
		action.CreateMember{}, action.CreateClaims{}, action.SetClaimOwners{}, action.UpdateClaim{}, action.MarkClaim{}, action.DeleteClaim{},
		action.CreateObject{Object: &unstructured.Unstructured{}}, action.ApplyObject{Object: &unstructured.Unstructured{}}, action.MarkObject{},
		action.DeleteObject{}, action.RepairPod{}, action.PatchPod{}, action.SetPodConditions{}, action.AdoptPod{}, action.ReleasePod{},
		action.DeletePod{Reason: action.DeleteForScaleDown}, action.DeletePod{Reason: action.DeleteForUpdate},
		action.DeletePod{Reason: action.DeleteFinished}, action.DeletePod{Reason: action.DeleteUnready},
		action.DeletePod{Reason: action.DeleteForClaims}, action.DeletePod{Reason: action.DeleteForOverride}, action.DeletePod{
			Reason: action.DeleteOnRequest}, action.DeletePod{Reason: action.DeleteUnrestarted}, action.DeletePod{Reason: action.DeleteUnresized},
		action.DeletePod{Reason: action.DeleteForUpdate, Turn: "first"}, action.DeletePod{Reason: action.DeleteForUpdate, Turn: "last"},
		action.UpdateInPlace{}, action.ResizePod{}, action.EndInPlace{},
		action.CreateRevision{}, action.AdoptRevision{}, action.RaiseRevision{}, action.DeleteRevision{}} {
		if c[nameOf(act)] == 0 {
			t.Errorf("no sequence led to %s", nameOf(act))
		}
	}
}
