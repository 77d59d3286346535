//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"statefulset.dev/test/harness/lab"
)

// rotated members get another authority at the first kill. One of them is killed each time, so that
// members which trust both authorities, and members which know only the one before, form a store.
type rotated struct {
	*one
	authority string
	done      bool
}

func (r *rotated) kill(random *rand.Rand) func() {
	if !r.done {
		r.done = true
		member := r.members[0]
		args := []string{"store", "rotate-authority", "--of=" + r.authority, "--kubeconfig=" + member.Args.Get("kubeconfig")}
		cmd := exec.CommandContext(r.t.Context(), member.Exe, args...)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "signs for the "+r.authority) {
			r.t.Fatalf("store rotate-authority --of=%s: got %q and %v, want that another authority signs", r.authority, out, err)
		}
	}
	return r.one.kill(random)
}

func TestMembersOfTheStoreWithAnotherAuthorityOfPeers(t *testing.T) {
	s := newStore(t, "another authority of peers in our store, and one of three members killed")
	s.play(&rotated{&one{s, false}, "peers", false})
}

func TestMembersOfTheStoreWithAnotherAuthorityOfClients(t *testing.T) {
	s := newStore(t, "another authority of clients in our store, and one of three members killed")
	s.play(&rotated{&one{s, false}, "clients", false})
}

// versions has one member end each time, and come back as the other version.
type versions struct {
	*storeMembers
	current, previous string
}

func (v *versions) leavesMajority() bool { return true }

func (v *versions) kill(random *rand.Rand) func() {
	i := random.IntN(len(v.members))
	v.processes[i].Kill(v.t)
	return func() {
		v.change(i)
		v.launch(i)
	}
}

func (v *versions) change(i int) {
	if v.members[i].Exe == v.current {
		v.members[i].Exe = v.previous
	} else {
		v.members[i].Exe = v.current
	}
}

// newVersions is a run with members of a store that an earlier version with one authority has begun.
func newVersions(t *testing.T, fault string) (r *run, members []lab.StoreMember, current, previous string) {
	t.Helper()
	previous = os.Getenv("PREVIOUS_SERVER")
	if previous == "" {
		t.Skip("PREVIOUS_SERVER names no program of a version with one authority; make test-store builds one")
	}
	r = newStoreRun(t, fault)
	members = r.lab.StoreMembers(t, storeRights, 3)
	current = r.program.Exe
	for i := range members {
		members[i].Exe = previous
	}
	return r, members, current, previous
}

func TestAServerOfBeforeWithMembersOfTheStoreOfTwoVersions(t *testing.T) {
	r, members, current, previous := newVersions(t, "an earlier server, and members of our store change their version")
	r.program.Exe = previous
	// The manifests of the earlier version, and of this one when the server runs.
	const earlier, inSystem = "statefulset-apiserver-etcd-earlier", "--namespace=statefulset-system"
	r.lab.MustKubectl(t, "", inSystem, "create", "role", earlier,
		"--verb=get", "--resource=secrets", "--resource-name=statefulset-apiserver-etcd-ca")
	r.lab.MustKubectl(t, "", inSystem, "create", "rolebinding", earlier,
		"--role="+earlier, "--serviceaccount=statefulset-system:statefulset-apiserver")
	s := startStore(r, members, func(int, *lab.Process) {})
	r.lab.MustKubectl(t, "", inSystem, "delete", "role,rolebinding", earlier)
	v := &versions{s, current, previous}
	v.play(v)
}

func TestAServerWithMembersOfTheStoreOfTwoVersions(t *testing.T) {
	r, members, current, previous := newVersions(t, "a server of this version, and members of our store change their version")
	s := &storeMembers{r, members}
	for i := range members {
		r.processes = append(r.processes, r.lab.Launch(t, members[i].Program))
	}
	r.awaitMembers()
	v := &versions{s, current, previous}
	// The first member of this version signs the certificate of the server.
	r.processes[0].Kill(t)
	v.change(0)
	s.launch(0)
	r.awaitMembers()
	s.serve()
	v.play(v)
}
