//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math/rand/v2"
	"testing"
	"time"

	"statefulset.dev/test/harness/lab"
)

// How long each storage is killed for by default. What follows, the judgement, takes
// a few seconds more.
const (
	singleBudget   = 75 * time.Second
	embeddedBudget = 55 * time.Second
	threeBudget    = 40 * time.Second
)

func TestAnEtcdThatIsKilled(t *testing.T) {
	run := newRun(t, "own etcd killed", singleBudget)
	etcd := run.lab.EtcdMembers(t, 1)
	run.serve(etcd)
	run.play(&members{run, etcd})
}

func TestOneOfThreeEtcdsThatIsKilled(t *testing.T) {
	run := newRun(t, "one of three own etcds killed", threeBudget)
	etcd := run.lab.EtcdMembers(t, 3)
	run.serve(etcd)
	run.play(&members{run, etcd})
}

// The embedded etcd is part of the server, so the server is killed with it.
func TestAServerWithEmbeddedEtcdThatIsKilled(t *testing.T) {
	run := newRun(t, "server with embedded etcd killed", embeddedBudget)
	run.serveEmbedded()
	run.play(&server{run})
}

// victim is what is killed.
type victim interface {
	// kill kills it, or a part of it, and returns what starts it again.
	kill(random *rand.Rand) (restart func())
	// leavesMajority says whether the rest of it goes on meanwhile.
	leavesMajority() bool
	// awaitsKill says whether there has to be another kill, however many there were.
	awaitsKill() bool
}

// members are those of an external etcd.
type members struct {
	*run
	etcd []lab.Etcd
}

func (m *members) kill(random *rand.Rand) func() {
	i := random.IntN(len(m.etcd))
	m.processes[i].Kill(m.t)
	return func() { m.processes[i] = m.lab.Launch(m.t, m.etcd[i].Program) }
}

// server is the server with its embedded etcd.
type server struct{ *run }

func (m *members) leavesMajority() bool { return len(m.etcd) > 1 }

func (s *server) leavesMajority() bool { return false }

func (s *server) kill(*rand.Rand) func() {
	s.server.Kill(s.t)
	return func() { s.server = s.lab.Launch(s.t, s.program) }
}
