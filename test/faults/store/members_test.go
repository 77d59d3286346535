//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"statefulset.dev/test/faults/store/load"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/disk"
	"statefulset.dev/test/harness/lab"
)

// storeBudget is how long each fault is played on the members of a store of ours.
const storeBudget = 30 * time.Second

// smallDisk has room for two files of etcd's log, and a database. Nothing is compacted, so a run that is asked to be
// longer needs more.
const (
	smallDisk   = 256 << 20
	diskPerKill = 24 << 20
)

// storeMembers are the members that servers bring along.
type storeMembers struct {
	*run
	members []lab.StoreMember
}

// storeRights is the manifest of what members and servers may do on the host.
const storeRights = "../../../artifacts/ha/rbac-etcd.yaml"

// newStoreRun is a run with members of a store of ours.
func newStoreRun(t *testing.T, fault string) *run {
	return newRun(t, fault, storeBudget)
}

// newStore starts a store, and a server on it. prepare makes the disk of each member.
func newStore(t *testing.T, fault string, prepare ...func(data string)) *storeMembers {
	r := newStoreRun(t, fault)
	members := r.lab.StoreMembers(t, storeRights, 3)
	for _, m := range members {
		for _, do := range prepare {
			do(m.Data)
		}
	}
	return startStore(r, members, func(int, *lab.Process) {})
}

// startStore starts members, and a server on them. launched is told of each process.
func startStore(r *run, members []lab.StoreMember, launched func(i int, process *lab.Process)) *storeMembers {
	s := &storeMembers{r, members}
	for i, m := range members {
		r.processes = append(r.processes, r.lab.Launch(r.t, m.Program))
		launched(i, r.processes[i])
	}
	r.awaitMembers()
	s.serve()
	return s
}

// serve starts the server on the members.
func (s *storeMembers) serve() {
	var servers []string
	for _, m := range s.members {
		servers = append(servers, m.URL)
	}
	s.program.Args = s.program.Args.Without("data-dir").
		With("etcd-servers", strings.Join(servers, ",")).With("etcd-tls-auto", filepath.Join(s.t.TempDir(), "tls"))
	s.server = s.lab.Start(s.t, s.program)
	s.awaitAggregator()
	s.truthFrom = func() []string { return []string{s.members[0].Socket(s.t)} }
}

func (s *storeMembers) launch(i int) { s.processes[i] = s.lab.Launch(s.t, s.members[i].Program) }

func (s *storeMembers) killAll() {
	for _, p := range s.processes {
		p.Kill(s.t)
	}
}

func (s *storeMembers) launchAll() {
	for i := range s.members {
		s.launch(i)
	}
}

// one loses a process, and its disk if wiped is true.
type one struct {
	*storeMembers
	wiped bool
}

func (o *one) leavesMajority() bool { return true }

func (o *one) kill(random *rand.Rand) func() {
	i := random.IntN(len(o.members))
	o.processes[i].Kill(o.t)
	if o.wiped {
		if err := os.RemoveAll(o.members[i].Data); err != nil {
			o.t.Fatalf("emptying the disk of %s: %v", o.members[i].Name, err)
		}
	}
	return func() { o.launch(i) }
}

// all lose their processes at once.
type all struct{ *storeMembers }

func (a *all) leavesMajority() bool { return false }

func (a *all) kill(*rand.Rand) func() {
	a.killAll()
	return a.launchAll
}

// swapped disks are given to the wrong members, which must not use them, and then to the right
// ones again.
type swapped struct{ *storeMembers }

func (s *swapped) leavesMajority() bool { return false }

func (s *swapped) kill(random *rand.Rand) func() {
	away := random.IntN(len(s.members))
	i, j := (away+1)%3, (away+2)%3
	swap := func() {
		s.processes[i].Kill(s.t)
		s.processes[j].Kill(s.t)
		aside := s.members[i].Data + "-aside"
		for _, move := range [][2]string{{s.members[i].Data, aside}, {s.members[j].Data, s.members[i].Data}, {aside, s.members[j].Data}} {
			if err := os.Rename(move[0], move[1]); err != nil {
				s.t.Fatalf("swapping disks: %v", err)
			}
		}
		s.launch(i)
		s.launch(j)
	}
	swap()
	s.awaitWord(i, "the disk belongs to "+s.members[j].Name)
	s.awaitWord(j, "the disk belongs to "+s.members[i].Name)
	return swap
}

// full disks end the process of their member, which goes on when they have room again.
type full struct {
	*storeMembers
	bulk *load.Bulk
}

func (f *full) leavesMajority() bool { return true }

func (f *full) kill(random *rand.Rand) func() {
	i := random.IntN(len(f.members))
	filler := filepath.Join(f.members[i].Data, "filler")
	disk.Fill(f.t, filler)
	// The load alone may take minutes until it needs a new page of the database.
	harness.Eventually(f.t, f.members[i].Name+" ends because its disk is full", func(ctx context.Context) error {
		select {
		case <-f.processes[i].Exited():
			return nil
		default:
			return errors.Join(errors.New("it runs"), f.bulk.Write(ctx))
		}
	})
	return func() {
		if err := os.Remove(filler); err != nil {
			f.t.Fatalf("making room on the disk of %s: %v", f.members[i].Name, err)
		}
		f.launch(i)
	}
}

// awaitWord waits until a member says why it is not ready.
func (s *storeMembers) awaitWord(i int, want string) {
	args := s.members[i].Args
	url := fmt.Sprintf("http://%s:%s/readyz", args.Get("listen-address"), args.Get("health-port"))
	harness.Eventually(s.t, s.members[i].Name+" says "+want, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		said, err := io.ReadAll(answer.Body)
		if err == nil && !strings.Contains(string(said), want) {
			err = fmt.Errorf("it says %q, want %q", said, want)
		}
		return err
	})
}

func TestAMemberOfTheStoreThatIsKilled(t *testing.T) {
	s := newStore(t, "one of three members of our store killed")
	s.play(&one{s, false})
}

func TestAMemberOfTheStoreWhoseDiskIsLost(t *testing.T) {
	s := newStore(t, "one of three members of our store loses its disk")
	s.play(&one{s, true})
}

func TestAllMembersOfTheStoreThatAreKilled(t *testing.T) {
	s := newStore(t, "all members of our store killed")
	s.play(&all{s})
}

func TestMembersOfTheStoreWithEachOthersDisks(t *testing.T) {
	s := newStore(t, "two members of our store with each other's disks")
	s.play(&swapped{s})
}

func TestAMemberOfTheStoreWhoseDiskIsFull(t *testing.T) {
	s := newStore(t, "the disk of one of three members of our store is full", func(data string) {
		if err := os.Mkdir(data, 0o700); err != nil {
			t.Fatalf("making a disk: %v", err)
		}
		disk.Small(t, data, smallDisk+int64(harness.Number(t, "KILLS", 1))*diskPerKill)
	})
	namespace, err := load.NewNamespace(t.Context(), s.lab.Host)
	if err != nil {
		t.Fatal(err)
	}
	s.play(&full{s, &load.Bulk{Sets: s.lab.Sets, Namespace: namespace}})
}
