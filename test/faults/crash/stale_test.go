//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"sync"
	"testing"
	"time"

	"statefulset.dev/test/harness/lab"
	"statefulset.dev/test/harness/proxy"
)

// frozenFor is how long the second kube-apiserver shows the past.
const frozenFor = 8 * time.Second

// Our server is on a second kube-apiserver whose watches of etcd stand still, while a
// user and the node change the world through the first. It is started there anew, or
// was there before. What it shows is the past, and all that it is asked to write is
// written.
func TestStaleKubeAPIServer(t *testing.T) {
	b := openBench(t)
	store := proxy.NewStoreTLS(t, b.URL(lab.HostEtcd), b.etcdTLS(t))
	second := b.SecondHost(t, "stale-kube-apiserver")
	for _, flag := range []string{"etcd-cafile", "etcd-certfile", "etcd-keyfile"} {
		second.Args = second.Args.Without(flag)
	}
	second.Args = second.Args.With("etcd-servers", store.URL)
	b.Start(t, second)
	program := b.controller(t, ours, b.server.Name, "https://127.0.0.1:"+second.Port(), b.etcd.URL)
	// The audit log of the second is another file.
	b.audit = openAudit(t, second.Args.Get("audit-log-path"))
	process := b.Start(t, program)
	b.warmUp(t)
	reference := b.reference(t, ours)
	v := newVerdict("stale second kube-apiserver", ours)
	for _, restarted := range []bool{true, false} {
		runs := b.newRuns(t, ours, chosen(t, ours))
		frozen := make(chan struct{})
		var arrived, playing sync.WaitGroup
		for _, r := range runs {
			arrived.Add(1)
			r.after = sync.OnceFunc(arrived.Done)
			r.before = func(step int) {
				if step == 2 {
					r.after()
					<-frozen
				}
			}
		}
		playing.Go(func() { playAll(t, runs) })
		arrived.Wait()
		store.HoldWatches()
		if restarted {
			process.Kill(t)
			process = b.Launch(t, program)
		}
		b.deleteFirstPods(t, runs)
		close(frozen)
		wait(t, frozenFor)
		store.ReleaseWatches()
		playing.Wait()
		v.runs += len(runs)
		v.note("restarted onto it %t: %s", restarted, describe(b.refused(t, runs), "writes refused because their view was old"))
		b.judgeAll(t, v, runs, reference)
	}
	v.report(t, b)
}
