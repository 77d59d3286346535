// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/grpclog"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"statefulset.dev/store/embedded"
)

// member is one of the members, during the life of its process.
type member struct {
	members members
	self    int // its ordinal
	dataDir string
	serving serving
	peers   peers
	note    clusterNote
	health  *health
	advice  advice
	fatal   func(error)
	// record is the content of the disk's record, once this member owns the disk.
	record record
}

func (m *member) name() string { return m.members.name(m.self) }

// Run runs a member, with valid options, until ctx ends. host is a client of the host cluster.
func Run(ctx context.Context, o *Options, host kubernetes.Interface) (err error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	// We log members that do not answer ourselves.
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	h := &health{reason: errors.New("the host cluster has not answered yet")}
	go func() {
		if err := h.serve(ctx, o.Listen, o.HealthPort); err != nil {
			fail(err)
		}
	}()
	m, err := newMember(ctx, o, host, h)
	if err != nil {
		return ended(ctx, err)
	}
	etcd, err := m.start(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { err = errors.Join(err, etcd.Close()) }()
	go m.watch(ctx, etcd, fail)
	if err := m.waitUntilVoter(ctx, etcd); err != nil {
		return ended(ctx, err)
	}
	klog.FromContext(ctx).Info("The member is a voter now", "name", m.name(), "member", fmt.Sprintf("%x", etcd.MemberID()))
	<-ctx.Done()
	return ended(ctx, nil)
}

// watch ends the process when etcd ends.
func (m *member) watch(ctx context.Context, etcd *embedded.Etcd, fail context.CancelCauseFunc) {
	select {
	case err, ok := <-etcd.Err():
		if ok {
			fail(fmt.Errorf("etcd has ended: %w", err))
		}
	case <-ctx.Done():
	}
}

// ended returns why a process ends, nil if it was asked to.
func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func newMember(ctx context.Context, o *Options, host kubernetes.Interface, h *health) (*member, error) {
	cluster, self, err := o.all()
	if err != nil {
		return nil, err
	}
	s, err := o.serve(ctx, cluster, self, host.CoreV1().Secrets(o.Namespace))
	if err != nil {
		return nil, err
	}
	shown, err := s.clients.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of the store: %w", err)
	}
	m := &member{
		members: cluster, self: self, dataDir: o.DataDir, serving: s,
		peers:  peers{members: cluster, self: self, tls: shown},
		note:   clusterNote{host.CoreV1().ConfigMaps(o.Namespace)},
		health: h, fatal: o.Fatal,
		advice: advice{namespace: o.Namespace, prefix: cluster.prefix, dataDir: o.DataDir},
	}
	h.peers = m.peers
	return m, nil
}
