// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/klog/v2"

	"statefulset.dev/store/embedded"
	"statefulset.dev/store/logthrottle"
)

// waitUntilVoter waits until the running member has all data of the others, and makes it a voter.
func (m *member) waitUntilVoter(ctx context.Context, etcd *embedded.Etcd) error {
	m.health.waits(errors.New("no majority of the members answers"))
	if err := etcd.WaitReady(ctx); err != nil {
		return err
	}
	m.health.runs(etcd.Endpoint(), etcd.MemberID())
	var throttle logthrottle.Throttle
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		err := m.becomeVoter(ctx, etcd)
		if err == nil {
			return nil
		}
		if !errors.Is(err, errAgain) && throttle.IsDue(err, time.Now()) {
			klog.FromContext(ctx).Info("The member is not a voter yet", "reason", err.Error())
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// becomeVoter reads the member's entry in the list of members, and corrects it if necessary.
func (m *member) becomeVoter(ctx context.Context, etcd *embedded.Etcd) error {
	listed, through, err := m.list(ctx, etcd)
	if err != nil {
		return err
	}
	self := (*etcdserverpb.Member)(nil)
	for _, one := range listed {
		if one.ID == etcd.MemberID() {
			self = one
		}
	}
	want := m.members.peerURL(m.self)
	switch {
	case self == nil:
		return fmt.Errorf("%s is not a member of the store", m.name())
	case len(self.PeerURLs) != 1 || self.PeerURLs[0] != want:
		return again(m.peers.with(ctx, through, func(ctx context.Context, client *clientv3.Client) error {
			_, err := client.MemberUpdate(ctx, self.ID, []string{want})
			return err
		}))
	case self.IsLearner:
		if err := m.sameAs(ctx, etcd, through); err != nil {
			return err
		}
		return again(m.peers.with(ctx, through, func(ctx context.Context, client *clientv3.Client) error {
			_, err := client.MemberPromote(ctx, self.ID)
			return err
		}))
	}
	return nil
}

// sameAs verifies that the member has the same data as another one, before it may vote.
func (m *member) sameAs(ctx context.Context, etcd *embedded.Etcd, through string) error {
	revision, hash, err := etcd.Hash()
	if err != nil {
		return err
	}
	return m.peers.with(ctx, through, func(ctx context.Context, client *clientv3.Client) error {
		theirs, err := client.HashKV(ctx, through, revision)
		if err != nil {
			return fmt.Errorf("comparing with %s at revision %d: %w", through, revision, err)
		}
		if theirs.Header.Revision < revision || theirs.Hash != hash {
			return fmt.Errorf("at revision %d, %s has hash %x, but this member has %x: it does not vote until they are the same", revision, through,
				theirs.Hash, hash)
		}
		return nil
	})
}

// list asks the member itself, or another one while the member does not vote and may not answer for
// all.
func (m *member) list(ctx context.Context, etcd *embedded.Etcd) (listed []*etcdserverpb.Member, through string, err error) {
	err = m.peers.with(ctx, etcd.Endpoint(), func(ctx context.Context, client *clientv3.Client) error {
		answer, err := client.MemberList(ctx)
		if err == nil {
			listed = answer.Members
		}
		return err
	})
	if err == nil {
		return listed, etcd.Endpoint(), nil
	}
	if others := m.peers.ask(ctx); len(others.listed) > 0 {
		return others.listed, others.through, nil
	}
	return nil, "", fmt.Errorf("listing the members: %w", err)
}
