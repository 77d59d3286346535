//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/bench/measure"
	"statefulset.dev/test/harness/lab"
)

func restartCase() benchCase {
	alone := ours()
	// One that was killed has not given its lease back. With replicas another one takes over
	// when it has run out; without, there is no election.
	alone.start = func(t *testing.T, b *bench) *lab.Process {
		program := b.server
		program.Args = program.Args.With("leader-elect", "false").With("preflight", "off")
		p := b.Start(t, program)
		b.awaitServed(t, ourSets())
		return p
	}
	return benchCase{
		name: "restart", title: "the controller of 10,000 sets of one member is killed and started again",
		sides: []side{alone, builtIn()},
		results: []measure.Result{
			{Measure: "host writes", Unit: "with nothing to do", Better: measure.Less, Goals: []measure.Goal{atMost(0), beside(builtIn())}},
			{Measure: "until a lost pod is back", Unit: "ms", Better: measure.Less, Goals: []measure.Goal{against(builtIn(), 2)}},
			{Measure: "until it is ready", Unit: "ms", Better: measure.Less, Goals: []measure.Goal{atMost(10_000)}},
		},
		prepare: func(t *turn) {
			n := t.size(10_000)
			t.createAll("db", n, 1)
			t.await(&t.pods.ready, n)
			t.settle(t.T)
		},
		take: func(t *turn) samples { return t.restart() },
	}
}

// restart kills the process twice: once with nothing to do, and once with a pod missing
// that it must bring back.
func (t *turn) restart() samples {
	t.process.Kill(t.T)
	t.audit.mark(t.T)
	begun := time.Now()
	t.process = t.Start(t.T, t.process.Program)
	served := time.Since(begun)
	t.settle(t.T)
	// What it has not done after this time, it will not do.
	time.Sleep(atRest)
	writes := t.audit.count(t.T, measure.Filter{User: t.side.user, Namespace: t.ns})
	t.Logf("%s has asked the host for %v", t.side.name, writes)

	t.process.Kill(t.T)
	created, ready, gone := t.pods.count(&t.pods.created), t.pods.count(&t.pods.ready), t.pods.count(&t.pods.gone)
	now := int64(0)
	if err := t.host.CoreV1().Pods(t.ns).Delete(t.Context(), "db0-0", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatalf("deleting a pod: %v", err)
	}
	t.await(&t.pods.gone, gone+1)
	begun = time.Now()
	t.process = t.Launch(t.T, t.process.Program)
	back := t.await(&t.pods.created, created+1).Sub(begun)
	if err := t.process.AwaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.await(&t.pods.ready, ready+1)
	t.settle(t.T)
	return samples{
		"host writes": float64(writes.Total()), "until a lost pod is back": milliseconds(back), "until it is ready": milliseconds(served)}
}
