// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"crypto"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strconv"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apiserver/pkg/storage/etcd3"

	"statefulset.dev/store/issuer"
)

// clientAs connects to the members with a certificate.
func (s *store) clientAs(t *testing.T, config *tls.Config) *clientv3.Client {
	t.Helper()
	var endpoints []string
	for _, m := range s.members {
		endpoints = append(endpoints, m.endpoint())
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, TLS: config, Logger: zap.NewNop(), Context: t.Context()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// newStore is a store of three with both authorities.
func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{secrets: secretsOf(t)}
	s.members = begin(t, func(m *member) { m.start(t, s.secrets) })
	return s
}

func TestAServerThatWasTakenOverIsNoMember(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	config := server(t, s.secrets)
	for sentence, try := range s.attempts(t, s.clientAs(t, config)) {
		if err := try(); status.Code(rootOf(err)) != codes.PermissionDenied {
			t.Errorf("a server %s: got %v, want that it is denied", sentence, err)
		}
	}
	s.writers = []*writer{{config: config}}
	// It mints a certificate with an authority of its own, and with its own certificate.
	s.strangers(t, authorityOf(t, "statefulset-apiserver-etcd-clients"), "member-0")
	s.strangers(t, leafOf(t, config), "member-0")
	for _, m := range s.members {
		if err := handshake(t, config, m.part.PeerPort); err == nil {
			t.Errorf("a server speaks to %s as a peer: got no error, want that its certificate is refused", m.part.Name)
		}
		if err := handshake(t, clientOf(t, s.members[0].part.PeerTLS), m.part.PeerPort); err != nil {
			t.Errorf("a member speaks to %s as a peer: got %v, want that its certificate is accepted", m.part.Name, err)
		}
		if err := handshake(t, clientOf(t, s.members[0].part.ClientTLS), m.part.PeerPort); err == nil {
			t.Errorf("a member speaks to %s as a peer, with its certificate for clients: got no error, want that it is refused", m.part.Name)
		}
	}
}

// attempts are what a server must not do to a store.
func (s *store) attempts(t *testing.T, client *clientv3.Client) map[string]func() error {
	t.Helper()
	ctx, at := t.Context(), s.members[0].endpoint()
	id := s.members[1].etcd.MemberID()
	raw := pb.NewMaintenanceClient(client.ActiveConnection())
	return map[string]func() error{
		"adds a member":     func() error { _, err := client.MemberAdd(ctx, []string{"https://127.0.0.1:1"}); return err },
		"adds a learner":    func() error { _, err := client.MemberAddAsLearner(ctx, []string{"https://127.0.0.1:1"}); return err },
		"removes a member":  func() error { _, err := client.MemberRemove(ctx, id); return err },
		"moves a member":    func() error { _, err := client.MemberUpdate(ctx, id, []string{"https://127.0.0.1:1"}); return err },
		"promotes a member": func() error { _, err := client.MemberPromote(ctx, id); return err },
		"lists the members": func() error { _, err := client.MemberList(ctx); return err },
		"moves the leader":  func() error { _, err := client.MoveLeader(ctx, id); return err },
		"blocks a member":   func() error { _, err := client.Defragment(ctx, at); return err },
		"disarms an alarm":  func() error { _, err := client.AlarmDisarm(ctx, &clientv3.AlarmMember{}); return err },
		"raises an alarm": func() error {
			_, err := raw.Alarm(ctx, &pb.AlarmRequest{Action: pb.AlarmRequest_ACTIVATE, Alarm: pb.AlarmType_NOSPACE})
			return err
		},
		"begins a downgrade":            func() error { _, err := raw.Downgrade(ctx, &pb.DowngradeRequest{Version: "3.6.0"}); return err },
		"adds a user":                   func() error { _, err := client.UserAdd(ctx, "root", "x"); return err },
		"turns users on":                func() error { _, err := client.AuthEnable(ctx); return err },
		"makes a lease":                 func() error { _, err := client.Grant(ctx, 60); return err },
		"reads all keys":                func() error { _, err := client.Get(ctx, "", clientv3.WithPrefix()); return err },
		"reads from its keys on":        func() error { _, err := client.Get(ctx, prefix+"/", clientv3.WithFromKey()); return err },
		"reads past its keys":           func() error { _, err := client.Get(ctx, prefix+"/", clientv3.WithRange("/registry/t")); return err },
		"reads a key that begins alike": func() error { _, err := client.Get(ctx, prefix+"-other/x"); return err },
		"writes another key":            func() error { _, err := client.Put(ctx, "/registry/x", "y"); return err },
		"deletes all keys":              func() error { _, err := client.Delete(ctx, "\x00", clientv3.WithFromKey()); return err },
		"compares another key": func() error {
			_, err := client.Txn(ctx).If(clientv3.Compare(clientv3.Version("/x"), "=", 0)).Commit()
			return err
		},
		"writes another key in a transaction of a transaction": func() error {
			_, err := client.Txn(ctx).Else(clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpPut("/x", "y")}, nil)).Commit()
			return err
		},
		"streams another key": func() error {
			stream, err := pb.NewKVClient(client.ActiveConnection()).RangeStream(ctx, &pb.RangeRequest{Key: []byte("/x")})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
		"watches another key": func() error {
			watching, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			stream, err := pb.NewWatchClient(client.ActiveConnection()).Watch(watching)
			if err == nil {
				create := &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("/x")}}
				err = stream.Send(&pb.WatchRequest{RequestUnion: create})
			}
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
	}
}

func TestAServerMayDoWhatItNeeds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	client := s.clientAs(t, server(t, s.secrets))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	key := prefix + "/a"
	events := client.Watch(clientv3.WithRequireLeader(ctx), prefix+"/", clientv3.WithPrefix(), clientv3.WithProgressNotify())
	var revision int64
	for _, step := range []struct {
		sentence string
		do       func() error
	}{
		{"writes", func() error {
			isNew := clientv3.Compare(clientv3.ModRevision(key), "=", 0)
			_, err := client.Txn(ctx).If(isNew).Then(clientv3.OpPut(key, "1")).Else(clientv3.OpGet(key)).Commit()
			return err
		}},
		{"receives an event from its watch", func() error { event := <-events; return event.Err() }},
		{"asks how far its watch is", func() error { return client.RequestProgress(clientv3.WithRequireLeader(ctx)) }},
		{"reads", func() error { _, err := client.Get(ctx, key); return err }},
		{"asks for health", func() error { _, err := client.Get(ctx, prefix+"/health"); return err }},
		{"lists", func() error {
			got, err := client.Get(ctx, prefix+"/", clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix+"/")))
			if err == nil {
				revision = got.Header.Revision
			}
			return err
		}},
		{"lists in a stream", func() error {
			stream, err := client.GetStream(ctx, prefix+"/", clientv3.WithPrefix())
			if err != nil {
				return err
			}
			_, err = clientv3.GetStreamToGetResponse(stream)
			return err
		}},
		{"agrees with others on the compaction", func() error { _, _, _, err := etcd3.Compact(ctx, client, 0, 0); return err }},
		{"compacts", func() error { _, _, _, err := etcd3.Compact(ctx, client, 1, revision); return err }},
		{"compacts before the time", func() error {
			_, err := client.Compact(ctx, revision+1)
			if errors.Is(err, rpctypes.ErrCompacted) {
				return nil // by a request whose answer was lost
			}
			return err
		}},
		{"asks for the size", func() error { _, err := client.Status(ctx, s.members[0].endpoint()); return err }},
		{"copies", func() error {
			from, err := client.Snapshot(ctx)
			if err == nil {
				_, err = io.Copy(io.Discard, from)
			}
			return err
		}},
		{"deletes", func() error { _, err := client.Delete(ctx, key); return err }},
	} {
		err := step.do()
		// Members of a busy machine change their leader, and refuse requests meanwhile.
		for ; err != nil && status.Code(rootOf(err)) != codes.PermissionDenied && ctx.Err() == nil; err = step.do() {
			<-time.After(10 * time.Millisecond)
		}
		if err != nil {
			t.Errorf("a server %s: got %v, want that it may", step.sentence, err)
		}
	}
}

// rootOf is the error of gRPC, which clients of etcd wrap.
func rootOf(err error) error {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err
}

func authorityOf(t *testing.T, purpose string) issuer.Authority {
	t.Helper()
	made, err := issuer.New(purpose, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// leafOf takes the certificate of a client for an authority.
func leafOf(t *testing.T, config *tls.Config) issuer.Authority {
	t.Helper()
	pair, err := config.GetClientCertificate(&tls.CertificateRequestInfo{})
	if err != nil {
		t.Fatal(err)
	}
	key, is := pair.PrivateKey.(crypto.Signer)
	if !is {
		t.Fatalf("the key of a server is %T, want one that signs", pair.PrivateKey)
	}
	return issuer.Authority{Certificate: pair.Leaf, Key: key}
}

// handshake connects to a port, whoever answers there, and waits until that has judged the certificate
// that it was shown.
func handshake(t *testing.T, config *tls.Config, port int) error {
	t.Helper()
	shown := &tls.Config{InsecureSkipVerify: true, GetClientCertificate: config.GetClientCertificate}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	connection, err := (&tls.Dialer{Config: shown}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	defer connection.Close()
	if _, err := connection.Write([]byte("GET /members HTTP/1.1\r\nHost: store\r\nConnection: close\r\n\r\n")); err != nil {
		return err
	}
	_, err = connection.Read(make([]byte, 1))
	return err
}
