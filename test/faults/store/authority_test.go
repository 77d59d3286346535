//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"statefulset.dev/store/certificates"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

// rotated members get another authority at the first kill, and give its predecessor up at the second one.
// One of them is killed each time, so that members which trust both authorities, only the one before, or
// only the one after, form a store.
type rotated struct {
	*one
	authority certificates.Authority
	// signer is the name of the other authority, empty before the first kill.
	signer   string
	finished bool
}

const systemNamespace = "statefulset-system"

func (r *rotated) kill(random *rand.Rand) func() {
	switch {
	case r.signer == "":
		r.rotate()
	case !r.finished:
		r.awaitCertificates()
		r.finish()
	}
	return r.one.kill(random)
}

// rotate has another authority sign.
func (r *rotated) rotate() {
	name, err := certificates.Rotate(r.t.Context(), r.authority, r.secrets(), systemNamespace, time.Now())
	if err != nil {
		r.t.Fatalf("having another authority sign for the %s: %v", r.authority, err)
	}
	r.signer = name
}

func (r *rotated) secrets() typedcorev1.SecretInterface {
	return r.lab.Host.CoreV1().Secrets(systemNamespace)
}

// awaitCertificates waits until all members, and the server, have a certificate of the other authority.
func (r *rotated) awaitCertificates() {
	address := func(m lab.StoreMember) string { return net.JoinHostPort(m.Listen, m.Args.Get("peer-port")) }
	if r.authority == certificates.Clients {
		address = func(m lab.StoreMember) string { return strings.TrimPrefix(m.URL, "https://") }
	}
	harness.EventuallyWithin(r.t, 5*time.Minute, "all have a certificate of "+r.signer, func(ctx context.Context) error {
		var others []error
		for _, member := range r.members {
			others = append(others, r.isSigner(member.Name, func() (*x509.Certificate, error) { return served(ctx, address(member)) }))
		}
		if r.authority == certificates.Clients {
			others = append(others,
				r.isSigner("the server", func() (*x509.Certificate, error) { return filed(r.program.Args.Get("etcd-tls-auto")) }))
		}
		return errors.Join(others...)
	})
}

func (r *rotated) isSigner(whose string, certificate func() (*x509.Certificate, error)) error {
	leaf, err := certificate()
	if err != nil {
		return fmt.Errorf("%s: %w", whose, err)
	}
	if got := leaf.Issuer.CommonName; got != r.signer {
		return fmt.Errorf("%s has a certificate of %s, want one of %s", whose, got, r.signer)
	}
	return nil
}

// served is the certificate that is served at an address.
func served(ctx context.Context, address string) (*x509.Certificate, error) {
	var leaf *x509.Certificate
	dialer := tls.Dialer{Config: &tls.Config{
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			leaf = state.PeerCertificates[0]
			return nil
		},
	}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	return leaf, conn.Close() //nolint:wrapcheck // it was answered
}

// filed is the certificate in a directory that a process keeps.
func filed(directory string) (*x509.Certificate, error) {
	files, err := certificates.FindFiles(directory)
	if err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(files.CertFile, files.KeyFile)
	return pair.Leaf, err
}

// finish gives the predecessor up, as rotate-authority --finish does some minutes later: all have another
// certificate by now. Members that are killed from then on trust the other authority only.
func (r *rotated) finish() {
	name, err := certificates.Finish(r.t.Context(), r.authority, r.secrets(), systemNamespace, time.Now().Add(time.Hour))
	if err != nil || name != r.signer {
		r.t.Fatalf("giving up the predecessor of the authority of the %s: got %q and %v, want that %s is the only one", r.authority, name, err,
			r.signer)
	}
	r.finished = true
}

func (r *rotated) awaitsKill() bool { return !r.finished }

func TestMembersOfTheStoreWithAnotherAuthorityOfPeers(t *testing.T) {
	s := newStore(t, "another authority of peers in our store, and one of three members killed")
	s.play(&rotated{one: &one{s, false}, authority: certificates.Peers})
}

func TestMembersOfTheStoreWithAnotherAuthorityOfClients(t *testing.T) {
	s := newStore(t, "another authority of clients in our store, and one of three members killed")
	s.play(&rotated{one: &one{s, false}, authority: certificates.Clients})
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
