//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
	"statefulset.dev/test/harness/proxy"
)

// Two of ours agree by the lease. The leader is stopped when it has sent writes that
// have not come to the host yet, until the other leads, and then goes on; what it had
// sent arrives late. It must begin no other write until it leads again.
func TestPausedLeader(t *testing.T) {
	b := openBench(t)
	p := &pauser{bench: b, t: t, struck: map[string]bool{}, commits: map[string]int{}, due: make(chan int, 1), resumed: make(chan struct{})}
	names := [2]string{b.server.Name, "second-controller"}
	var hosts [2]*proxy.Host
	for i, name := range names {
		hosts[i] = b.proxied(t, ours, b.URL(lab.HostAPI))
		program := b.controller(t, ours, name, hosts[i].URL, b.etcd.URL)
		program.Args = program.Args.With("leader-elect", "true").With("leader-elect-lease-duration", "2s").
			With("leader-elect-renew-deadline", "1500ms").With("leader-elect-retry-period", "300ms")
		before := p.holder() // for the first, a server of another test, which may have left the lease to run out
		p.processes[i] = b.Start(t, program)
		if i == 0 {
			b.warmUp(t)
			p.identities[0] = p.nextHolder(before)
		}
	}
	reference := b.reference(t, ours)
	v := newVerdict("leader stopped beyond its lease", ours)
	for i, host := range hosts {
		host.Ask(func(ctx context.Context, at proxy.Point, write *proxy.Write) { p.at(ctx, i, at, write) })
	}
	pauses := harness.Number(t, "FAULTS_PAUSES", 30)
	runs := b.newRuns(t, ours, chosen(t, ours))
	ctx, stop := context.WithCancel(t.Context())
	var pausing sync.WaitGroup
	pausing.Go(func() { p.run(ctx, pauses) })
	playAll(t, runs)
	stop()
	pausing.Wait()
	p.finish()
	v.runs = p.paused
	v.note("%d writes on their way at %d stops of a leader", len(p.struck), p.paused)
	for _, late := range p.late {
		v.add("former leader", violation{noLateWrites, late})
	}
	b.judgeAll(t, v, runs, reference)
	v.report(t, b)
}

// pauser stops the leader at its writes.
type pauser struct {
	*bench

	t         *testing.T
	processes [2]*lab.Process
	// identities are what the lease calls the processes. The second is known once it leads.
	identities [2]string

	mu      sync.Mutex
	struck  map[string]bool
	commits map[string]int
	// holding is set while the writes of stopping are held; resumed is closed at its end.
	holding, over bool
	stopping      int
	resumed       chan struct{}
	due           chan int
	// former is the process that was stopped last, if there was one.
	former *int
	paused int
	late   []string
}

func (p *pauser) at(ctx context.Context, process int, at proxy.Point, write *proxy.Write) {
	p.mu.Lock()
	key := write.Key()
	if at == proxy.Committed && write.OK {
		p.commits[key]++
	}
	if at != proxy.Before || p.over {
		p.mu.Unlock()
		return
	}
	id := fmt.Sprintf("%s #%d", key, p.commits[key])
	if !p.struck[id] && !p.holding {
		p.holding, p.stopping = true, process
		p.due <- process
	}
	held := p.holding && p.stopping == process
	if held {
		p.struck[id] = true
	}
	// What the servers note of their store in their own namespace is not led.
	isFormer := !held && p.former != nil && *p.former == process && !strings.Contains(key, " statefulset-system/")
	resumed := p.resumed
	p.mu.Unlock()
	if isFormer {
		if holder := p.holder(); holder != p.identities[process] {
			p.mu.Lock()
			p.late = append(p.late,
				fmt.Sprintf("%s of process %d, which the lease calls %q, arrived while %s held the lease", key, process, p.identities[process], holder))
			p.mu.Unlock()
		}
	}
	if held {
		select {
		case <-resumed:
		case <-ctx.Done():
		}
	}
}

// run stops the leader and lets it go on, a number of times, until the context ends.
func (p *pauser) run(ctx context.Context, times int) {
	for range times {
		select {
		case <-ctx.Done():
			return
		case process := <-p.due:
			p.stop(ctx, process)
		}
	}
	p.finish()
}

func (p *pauser) stop(ctx context.Context, process int) {
	wait(p.t, gather)
	if !p.leads(process) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.letGo()
		return
	}
	p.processes[process].Pause(p.t)
	// The other leads as soon as the lease has run out.
	_ = repeat(ctx, func() error {
		if holder := p.holder(); holder == "" || holder == p.identities[process] {
			return fmt.Errorf("%q leads", holder)
		}
		return nil
	})
	p.mu.Lock()
	if other := 1 - process; p.identities[other] == "" {
		p.identities[other] = p.holder()
	}
	p.paused++
	p.former = new(process)
	p.letGo()
	p.mu.Unlock()
	p.processes[process].Resume(p.t)
}

// leads reports whether a process holds the lease. On a busy machine the lease may have
// changed hands without us, so the second may lead before the first was ever stopped: what
// the lease calls it is known then.
func (p *pauser) leads(process int) bool {
	holder := p.holder()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.identities[process] == "" && holder != p.identities[1-process] {
		p.identities[process] = holder
	}
	return holder != "" && holder == p.identities[process]
}

// nextHolder is who holds the lease after another has.
func (p *pauser) nextHolder(before string) (holder string) {
	err := repeat(p.t.Context(), func() error {
		if holder = p.holder(); holder == "" || holder == before {
			return fmt.Errorf("%q leads", holder)
		}
		return nil
	})
	if err != nil {
		p.t.Fatalf("waiting until the first controller leads: %v", err)
	}
	return holder
}

// finish leaves the leaders alone from now on.
func (p *pauser) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.letGo()
}

func (p *pauser) letGo() {
	p.holding = false
	close(p.resumed)
	p.resumed = make(chan struct{})
}

// holder is who holds the lease, empty if that cannot be read.
func (p *pauser) holder() string {
	lease, err := p.Host.CoordinationV1().Leases("statefulset-system").Get(p.t.Context(), "statefulset-apiserver-controller",
		metav1.GetOptions{})
	if err != nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}
