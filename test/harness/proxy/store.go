// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// Store is a proxy before an etcd that uses plain text.
type Store struct {
	// URL is its address.
	URL string

	target *grpc.ClientConn
	gate   atomic.Pointer[Gate]
	// watches can be locked for reading while watches flow.
	watches sync.RWMutex
}

const (
	transaction = "/etcdserverpb.KV/Txn"
	watching    = "/etcdserverpb.Watch/Watch"
)

// NewStore serves until the test ends. The target is the address of an etcd.
func NewStore(t testing.TB, target string) *Store {
	t.Helper()
	return newStore(t, strings.TrimPrefix(target, "http://"), insecure.NewCredentials())
}

// NewStoreTLS is NewStore before an etcd that requires a client certificate.
func NewStoreTLS(t testing.TB, target string, config *tls.Config) *Store {
	t.Helper()
	return newStore(t, strings.TrimPrefix(target, "https://"), credentials.NewTLS(config))
}

func newStore(t testing.TB, target string, security credentials.TransportCredentials) *Store {
	t.Helper()
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(security), grpc.WithDefaultCallOptions(
		grpc.ForceCodec(verbatim{}), grpc.MaxCallRecvMsgSize(math.MaxInt32), grpc.MaxCallSendMsgSize(math.MaxInt32)))
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening for an etcd proxy: %v", err)
	}
	s := &Store{URL: "http://" + listener.Addr().String(), target: conn}
	server := grpc.NewServer(grpc.ForceServerCodec(verbatim{}), grpc.UnknownServiceHandler(s.serve), grpc.MaxRecvMsgSize(math.MaxInt32),
		// The same limit that etcd has for the keepalive of its clients.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 5 * time.Second}))
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		_ = conn.Close()
	})
	return s
}

// Ask sets the gate for transactions from now on. Nil removes it.
func (s *Store) Ask(gate Gate) { s.gate.Store(&gate) }

// HoldWatches delays all events of watches until ReleaseWatches. Reads and writes continue.
func (s *Store) HoldWatches() { s.watches.Lock() }

// ReleaseWatches delivers the delayed events, and lets watches continue.
func (s *Store) ReleaseWatches() { s.watches.Unlock() }

func (s *Store) ask(ctx context.Context, at Point, write *Write) {
	if gate := s.gate.Load(); write != nil && gate != nil && *gate != nil {
		(*gate)(ctx, at, write)
	}
}

func (s *Store) serve(_ any, in grpc.ServerStream) error {
	method, ok := grpc.MethodFromServerStream(in)
	if !ok {
		return errors.New("gRPC call without a method")
	}
	if method == transaction {
		return s.transact(in)
	}
	return s.pass(in, method)
}

// transact carries out one transaction, and calls the gate at its points if it writes a set.
func (s *Store) transact(in grpc.ServerStream) error {
	var request, response frame
	if err := in.RecvMsg(&request); err != nil {
		return err
	}
	write, err := writeIn(request)
	if err != nil {
		return err
	}
	ctx := in.Context()
	s.ask(ctx, Before, write)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if write != nil {
		ctx = context.WithoutCancel(ctx)
	}
	if err := s.target.Invoke(outgoing(ctx), transaction, &request, &response); err != nil {
		return err
	}
	if write != nil {
		var answer etcdserverpb.TxnResponse
		if err := proto.Unmarshal(response, &answer); err != nil {
			return fmt.Errorf("decoding the response to a transaction: %w", err)
		}
		write.OK = answer.Succeeded
	}
	s.ask(in.Context(), Committed, write)
	if err := in.SendMsg(&response); err != nil {
		return err
	}
	s.ask(in.Context(), Replied, write)
	return nil
}

// writeIn returns the set that a transaction writes, nil if it writes none.
func writeIn(raw frame) (*Write, error) {
	var txn etcdserverpb.TxnRequest
	if err := proto.Unmarshal(raw, &txn); err != nil {
		return nil, fmt.Errorf("decoding a transaction: %w", err)
	}
	for _, op := range txn.Success {
		key := op.GetRequestPut().GetKey()
		if removed := op.GetRequestDeleteRange(); removed != nil {
			key = removed.Key
		}
		if _, path, ok := strings.Cut(string(key), "/statefulsets/"); ok {
			namespace, name, _ := strings.Cut(path, "/")
			return &Write{Verb: "TXN", Resource: "statefulsets", Namespace: namespace, Name: name}, nil
		}
	}
	return nil, nil
}

// pass forwards a call in both directions until it ends.
func (s *Store) pass(in grpc.ServerStream, method string) error {
	ctx, cancel := context.WithCancel(outgoing(in.Context()))
	defer cancel()
	out, err := s.target.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	go func() {
		if err := copyMessages(in.RecvMsg, out.SendMsg); err == nil {
			_ = out.CloseSend()
		} else {
			cancel()
		}
	}()
	if method != watching {
		return copyMessages(out.RecvMsg, in.SendMsg)
	}
	return copyMessages(out.RecvMsg, func(message any) error {
		s.watches.RLock()
		defer s.watches.RUnlock()
		return in.SendMsg(message)
	})
}

// copyMessages copies messages, and returns nil when there are no more.
func copyMessages(receive, send func(any) error) error {
	for {
		var message frame
		if err := receive(&message); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := send(&message); err != nil {
			return err
		}
	}
}

func outgoing(ctx context.Context) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	return metadata.NewOutgoingContext(ctx, md)
}

// frame is an encoded message.
type frame []byte

// verbatim does not decode messages.
type verbatim struct{}

func (verbatim) Marshal(message any) ([]byte, error) { return *message.(*frame), nil }

func (verbatim) Unmarshal(data []byte, message any) error {
	*message.(*frame) = append(frame(nil), data...)
	return nil
}

func (verbatim) Name() string { return "proto" }
