//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"os/exec"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"statefulset.dev/test/bench/measure"
)

// inProcess is our code in a test of its own: no cluster has a part in it.
func inProcess() side { return side{name: measure.Ours, share: 1} }

func lookCase() benchCase {
	return benchCase{
		name: "look", title: "a set of 5,000 members that is as it should be is looked at, in process",
		sides: []side{inProcess()},
		results: []measure.Result{
			{Measure: "time", Unit: "ms", Better: measure.Less, Goals: []measure.Goal{atMost(5)}},
			{Measure: "memory", Unit: "MB", Better: measure.Less, Goals: []measure.Goal{atMost(2)}},
		},
		take: func(t *turn) samples { return t.look() },
	}
}

func (t *turn) look() samples {
	const name = "BenchmarkConvergedLook"
	command := exec.CommandContext(t.Context(), "go", "test", "-run=^$", "-bench=^"+name+"$", "-benchtime=50x", "./controller")
	command.Dir = "../.."
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
	values, err := measure.GoBenchmark(string(output), name)
	if err != nil {
		t.Fatal(err)
	}
	return samples{"time": values["ns/op"] / 1e6, "memory": values["B/op"] / 1e6}
}

// quietSets is how many sets there are of which nothing is wanted.
const quietSets = 1000

func quietCase() benchCase {
	none := func(name, unit string) measure.Result {
		return measure.Result{Measure: name, Unit: unit, Better: measure.Less, Goals: []measure.Goal{atMost(0), beside(builtIn())}}
	}
	return benchCase{
		name: "quiet", title: "1,000 sets of one member are left alone, and then pods change in ways that mean nothing",
		sides: []side{ours(), builtIn()},
		results: []measure.Result{
			none("requests at rest", "in 30 s"),
			{Measure: "processor at rest", Unit: "ms per second more than without sets", Better: measure.Less,
				Goals: []measure.Goal{atMost(5), beside(builtIn())}},
			{Measure: "processor for a change", Unit: "us", Better: measure.Less, Goals: []measure.Goal{against(builtIn(), 2)}},
			none("requests for changes", "in all"),
		},
		take: func(t *turn) samples { return t.quiet(t.size(quietSets)) },
	}
}

// atRest is how long sets are left alone.
const atRest = 30 * time.Second

// quiet measures what sets at rest cost more than no sets do, and then what it costs when
// their pods, and as many others, get an annotation that nobody asked for.
func (t *turn) quiet(n int) samples {
	t.settle(t.T)
	without := t.spentDuring(func() { time.Sleep(atRest) })
	t.createAll("db", n, 1)
	t.await(&t.pods.ready, n)
	t.createStrangers(n)
	t.settle(t.T)
	t.audit.mark(t.T)
	with := t.spentDuring(func() { time.Sleep(atRest) })
	got := samples{"requests at rest": t.requests(), "processor at rest": max(0, milliseconds(with-without)/atRest.Seconds())}
	begun := time.Now()
	changing := t.spentDuring(func() { t.annotate(n) })
	idle := time.Duration(float64(with) * float64(time.Since(begun)) / float64(atRest))
	got["processor for a change"] = max(1, 1000*milliseconds(changing-idle)/float64(2*n))
	got["requests for changes"] = t.requests()
	return got
}

// spentDuring is how long the processors have worked for the side's process while
// something was done, and until the host was at rest again.
func (t *turn) spentDuring(do func()) time.Duration {
	t.Helper()
	before, err := measure.ProcessTime(t.process.PID())
	if err != nil {
		t.Fatal(err)
	}
	do()
	t.settle(t.T)
	after, err := measure.ProcessTime(t.process.PID())
	if err != nil {
		t.Fatal(err)
	}
	return after - before
}

// requests are all that the side has asked of the host in the turn's namespace since the
// last mark, reads included, watches excepted. What a server asks of the host for its own
// sake is elsewhere.
func (t *turn) requests() float64 {
	t.Helper()
	all := t.audit.count(t.T, measure.Filter{User: t.side.user, Namespace: t.ns, Reads: true})
	t.Logf("%s has asked the host for %v", t.side.name, all)
	return float64(all.Total())
}

// createStrangers creates pods that belong to no set.
func (t *turn) createStrangers(n int) {
	t.Helper()
	spec := t.decode(set("stranger", n))
	err := eachOf(t.Context(), n, func(i int) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("stranger-%d", i)}, Spec: spec.Template.Spec}
		_, err := t.host.CoreV1().Pods(t.ns).Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		t.Fatalf("creating pods: %v", err)
	}
	t.await(&t.pods.ready, 2*n)
}

// annotate changes each member and each stranger once.
func (t *turn) annotate(n int) {
	t.Helper()
	change := []byte(`{"metadata":{"annotations":{"bench":"changed"}}}`)
	err := eachOf(t.Context(), n, func(i int) error {
		for _, name := range []string{fmt.Sprintf("db%d-0", i), fmt.Sprintf("stranger-%d", i)} {
			if _, err := t.host.CoreV1().Pods(t.ns).Patch(t.Context(), name, types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("changing pods: %v", err)
	}
}
