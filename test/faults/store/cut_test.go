//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"statefulset.dev/test/harness/lab"
	"statefulset.dev/test/harness/proxy"
)

// A pair stays cut for a time between these, once a write was acknowledged: members that have lost their leader ask for an
// election after a second.
const shortestCut, longestCut = 500 * time.Millisecond, 4 * time.Second

// cables are between members of a store, a path for each direction of each pair.
type cables struct {
	pids [3]atomic.Int64
	// between has the paths by who connects and to whom.
	between map[[2]int][]*proxy.Link
}

// newCables stands between members, which are not started yet.
func newCables(t *testing.T, members []lab.StoreMember) *cables {
	c := &cables{between: map[[2]int][]*proxy.Link{}}
	for to, m := range members {
		for _, flag := range []string{"peer-port", "client-port"} {
			port := m.Args.Get(flag)
			target := net.JoinHostPort(m.Listen, port)
			var from [3]*proxy.Link
			for i := range from {
				from[i] = proxy.NewPath(t, target)
				c.between[[2]int{i, to}] = append(c.between[[2]int{i, to}], from[i])
			}
			// The server is nobody's pair.
			var others *proxy.Link
			if flag == "client-port" {
				others = proxy.NewPath(t, target)
			}
			proxy.NewSwitch(t, net.JoinHostPort(m.Host, port), func(conn net.Conn) *proxy.Link {
				for i := range from {
					if pid := int(c.pids[i].Load()); pid != 0 && proxy.MadeBy(conn, pid) {
						return from[i]
					}
				}
				return others
			})
		}
	}
	return c
}

// of are the paths between two members, in both directions.
func (c *cables) of(pair [2]int) []*proxy.Link {
	return append(append([]*proxy.Link{}, c.between[pair]...), c.between[[2]int{pair[1], pair[0]}]...)
}

// pairs of members are kept from each other, one after the other, while both reach the third and the server reaches all.
type pairs struct {
	*storeMembers
	cables *cables
	next   int
}

func (p *pairs) leavesMajority() bool { return true }

func (p *pairs) kill(random *rand.Rand) func() {
	pair := [][2]int{{0, 1}, {0, 2}, {1, 2}}[p.next%3]
	p.next++
	paths := p.cables.of(pair)
	// Packets are lost without a word, or connections are refused.
	silent := random.IntN(2) == 0
	for _, path := range paths {
		if silent {
			path.Hold(proxy.Forth)
			path.Hold(proxy.Back)
		} else {
			path.Cut()
		}
	}
	return func() {
		time.Sleep(shortestCut + time.Duration(random.Int64N(int64(longestCut-shortestCut))))
		for _, path := range paths {
			path.Heal()
		}
	}
}

func TestMembersOfTheStoreThatDoNotReachEachOther(t *testing.T) {
	r := newStoreRun(t, "two of three members of our store do not reach each other, each pair in turn")
	members := r.lab.StoreMembersApart(t, storeRights, 3)
	c := newCables(t, members)
	s := startStore(r, members, func(i int, process *lab.Process) { c.pids[i].Store(int64(process.PID())) })
	s.play(&pairs{s, c, 0})
}
