//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
	"statefulset.dev/test/harness/proxy"
)

// delayed is the longest that a write is delayed where order is shuffled.
const delayed = 40 * time.Millisecond

// together is how many seeds are played at the same time.
const together = 4

// Two, then three controllers control the same sets, because nobody heeds the lease.
// The seed delays every write of each by its own time, so that they overtake each
// other.
func TestSeveralControllersOurs(t *testing.T)    { severalControllers(t, ours) }
func TestSeveralControllersBuiltIn(t *testing.T) { severalControllers(t, builtIn) }

func severalControllers(t *testing.T, s side) {
	b := openBench(t)
	hosts := []*proxy.Host{b.proxied(t, s, b.URL(lab.HostAPI)), b.proxied(t, s, b.URL(lab.HostAPI)), b.proxied(t, s, b.URL(lab.HostAPI))}
	if s == builtIn {
		b.Start(t, b.server)
	}
	b.Start(t, b.controller(t, s, b.nameOf(s), hosts[0].URL, b.etcd.URL))
	b.warmUp(t)
	reference := b.reference(t, s)

	b.Start(t, b.controller(t, s, "second-controller", hosts[1].URL, b.etcd.URL))
	seeds := harness.Number(t, "FAULTS_SEEDS", 8)
	v := newVerdict("two and three active controllers", s)
	for seed := 0; seed < seeds; seed += together {
		if seed >= seeds/2 && hosts[2] != nil {
			b.Start(t, b.controller(t, s, "third-controller", hosts[2].URL, b.etcd.URL))
			v.note("%d seeds with two, %d with three", seed, seeds-seed)
			hosts[2].Ask(shuffle(2))
			hosts[2] = nil
		}
		hosts[0].Ask(shuffle(0))
		hosts[1].Ask(shuffle(1))
		var runs []*run
		for range min(together, seeds-seed) {
			runs = append(runs, b.newRuns(t, s, chosen(t, s))...)
		}
		for _, r := range runs {
			r.shared = true
		}
		playAll(t, runs)
		v.runs += len(runs)
		b.judgeAll(t, v, runs, reference)
	}
	v.report(t, b)
}

// shuffle delays the writes of one controller. The namespace, which is new for every
// seed, is part of what the delay depends on.
func shuffle(controller int) proxy.Gate {
	return func(ctx context.Context, at proxy.Point, write *proxy.Write) {
		if at != proxy.Before {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(hash(controller, write.Key()) * float64(delayed))):
		}
	}
}

// hash is a number from 0 to 1 that depends on nothing but the arguments. Arguments that differ
// in a digit have to have numbers that have nothing to do with each other: of a checksum that is
// merely fast, ten requests in a row have about the same.
func hash(args ...any) float64 {
	sum := sha256.Sum256([]byte(fmt.Sprint(args...)))
	return float64(binary.BigEndian.Uint32(sum[:])) / (1 << 32)
}
