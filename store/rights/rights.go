// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"k8s.io/klog/v2"

	"statefulset.dev/store/logthrottle"
)

// Rights define which client may do what.
type Rights struct {
	// Members are the names in the certificates of members, and Server is the name in those of
	// servers.
	Members []string
	Server  string
	// Prefix is the prefix of the keys of servers.
	Prefix string
}

// ofServers are the requests that servers may send: reads, writes and watches of their keys,
// compaction, the size of the database, and copies of the store.
func ofServers() []string {
	return []string{
		pb.KV_Range_FullMethodName, pb.KV_RangeStream_FullMethodName, pb.KV_Txn_FullMethodName,
		pb.KV_Put_FullMethodName, pb.KV_DeleteRange_FullMethodName, pb.KV_Compact_FullMethodName,
		pb.Watch_Watch_FullMethodName,
		pb.Maintenance_Status_FullMethodName, pb.Maintenance_Snapshot_FullMethodName,
	}
}

// Options make a gRPC server of etcd refuse requests that a client may not send.
func (r Rights) Options() []grpc.ServerOption {
	d := &interceptor{Rights: r, ofServers: ofServers()}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(d.unary), grpc.ChainStreamInterceptor(d.stream)}
}

// interceptor checks every request.
type interceptor struct {
	Rights
	ofServers []string

	mu       sync.Mutex
	throttle logthrottle.Throttle
}

func (d *interceptor) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	member, err := d.authorize(ctx, info.FullMethod)
	if err == nil && !member {
		err = d.check(ctx, request)
	}
	if err != nil {
		return nil, err
	}
	return handle(ctx, request)
}

func (d *interceptor) stream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	member, err := d.authorize(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	if !member {
		stream = &checked{stream, d}
	}
	return handle(server, stream)
}

// checked is a stream of a server.
type checked struct {
	grpc.ServerStream
	interceptor *interceptor
}

func (c *checked) RecvMsg(message any) error {
	if err := c.ServerStream.RecvMsg(message); err != nil {
		return err
	}
	return c.interceptor.check(c.Context(), message)
}

// authorize reports whether the client is a member. It fails if the client must not send requests
// of that kind.
func (d *interceptor) authorize(ctx context.Context, method string) (member bool, err error) {
	from, ok := peer.FromContext(ctx)
	if !ok {
		return false, d.refuse(ctx, "a client without an address must not send %s", method)
	}
	secure, ok := from.AuthInfo.(credentials.TLSInfo)
	if !ok {
		if from.Addr.Network() == "unix" {
			// The socket is in a directory that only the user of this process can enter.
			return true, nil
		}
		return false, d.refuse(ctx, "a client without TLS must not send %s", method)
	}
	switch name := nameIn(secure); {
	case slices.Contains(d.Members, name):
		return true, nil
	case name != d.Server:
		return false, d.refuse(ctx, "%q is neither a member of the store nor one of its servers, and must not send %s", name, method)
	case !slices.Contains(d.ofServers, method):
		return false, d.refuse(ctx, "servers of the store must not send %s", method)
	}
	return false, nil
}

// nameIn is the name in a verified certificate.
func nameIn(secure credentials.TLSInfo) string {
	for _, chain := range secure.State.VerifiedChains {
		if len(chain) > 0 {
			return chain[0].Subject.CommonName
		}
	}
	return ""
}

func (d *interceptor) check(ctx context.Context, request any) error {
	if key, found := d.outside(request); found {
		return d.refuse(ctx, "servers of the store must only use keys below %s (--etcd-prefix), got %q", d.Prefix, key)
	}
	return nil
}

func (d *interceptor) refuse(ctx context.Context, format string, args ...any) error {
	err := status.Error(codes.PermissionDenied, fmt.Sprintf(format, args...))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.throttle.IsDue(err, time.Now()) {
		from, _ := peer.FromContext(ctx)
		klog.FromContext(ctx).Info("Refused a request to the store", "reason", status.Convert(err).Message(), "from", addressOf(from))
	}
	return err
}

func addressOf(from *peer.Peer) string {
	if from == nil || from.Addr == nil {
		return ""
	}
	return from.Addr.String()
}
