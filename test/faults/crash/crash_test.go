//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"testing"

	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/harness/lab"
	"statefulset.dev/test/harness/proxy"
)

// A process dies at every write to the host, and ours at every write of a set to its
// store, at one of the three points of the write; then it is started again. Every
// write of a run has its crash, and the runs of all scenarios share the deaths.
func TestCrashAroundEveryWriteOurs(t *testing.T)    { crashAroundEveryWrite(t, ours) }
func TestCrashAroundEveryWriteBuiltIn(t *testing.T) { crashAroundEveryWrite(t, builtIn) }

func crashAroundEveryWrite(t *testing.T, s side) {
	b := openBench(t)
	host := b.proxied(t, s, b.URL(lab.HostAPI))
	store := proxy.NewStore(t, b.etcd.URL)
	if s == builtIn {
		b.Start(t, b.server)
	}
	program := b.controller(t, s, b.nameOf(s), host.URL, store.URL)
	process := b.Start(t, program)
	b.warmUp(t)
	reference := b.reference(t, s)
	v := newVerdict("crash around every write", s)
	for _, point := range []proxy.Point{proxy.Before, proxy.Committed, proxy.Replied} {
		runs := b.newRuns(t, s, chosen(t, s))
		killer := newKiller(point, runs)
		host.Ask(killer.at)
		store.Ask(killer.at)
		ctx, stop := context.WithCancel(t.Context())
		deaths := make(chan int, 1)
		go func() {
			deaths <- killer.run(ctx, func() {
				process.Kill(t)
				killer.died()
				process = b.Launch(t, program)
			})
		}()
		for _, r := range runs {
			r.after = func() { killer.done(r.namespace) }
		}
		playAll(t, runs)
		stop()
		died := <-deaths
		host.Ask(nil)
		store.Ask(nil)
		close(killer.free)
		v.runs += killer.total()
		v.note("%d writes killed %s by %d deaths", killer.total(), point, died)
		b.judgeAll(t, v, runs, reference)
	}
	v.report(t, b)
}

// nameOf is the name of the first controller of a side. Ours is the server as well.
func (b *bench) nameOf(s side) string {
	if s == ours {
		return b.server.Name
	}
	return "built-in-controller"
}

// reference is how each scenario ends without faults, by the name of the scenario. A
// controller of the side must run.
func (b *bench) reference(t *testing.T, s side) map[string]string {
	t.Helper()
	runs := b.newRuns(t, s, chosen(t, s))
	playAll(t, runs)
	b.stillness(t, runs)
	outcomes := map[string]string{}
	v := newVerdict("no fault", s)
	for _, r := range runs {
		outcomes[r.scenario.Name] = scenarios.Outcome(r.observed())
		v.add(r.scenario.Name, r.judge(b.audit.of(t, s.user(), r.namespace))...)
	}
	leave(t, runs)
	for promise, texts := range v.texts {
		t.Logf("%s without faults: %s: %d, such as %s", s, promise, v.found[promise], texts[0])
	}
	if n := len(v.texts[converged]); n > 0 {
		t.Fatalf("without faults, %d runs of %s did not converge: %v", n, s, v.texts[converged])
	}
	return outcomes
}
