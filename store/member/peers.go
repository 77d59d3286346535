// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// askTimeout limits a request to another member.
const askTimeout = 3 * time.Second

// peerStatus has the answers of the other members.
type peerStatus struct {
	// answered is how many of them are running.
	answered int
	// listed are the members of the store according to a majority of them. It is empty without a
	// majority.
	listed []*etcdserverpb.Member
	// through is the endpoint of one that answers for the majority.
	through string
}

// find returns a member, nil if it is not listed.
func (c peerStatus) find(name, peerURL string) *etcdserverpb.Member {
	for _, m := range c.listed {
		if m.Name == name || slices.Contains(m.PeerURLs, peerURL) {
			return m
		}
	}
	return nil
}

// peers are the other members.
type peers struct {
	members members
	self    int
	tls     *tls.Config
}

// ask asks all of them at the same time.
func (p peers) ask(ctx context.Context) peerStatus {
	var found peerStatus
	var mu sync.Mutex
	var group sync.WaitGroup
	for ordinal := range p.members.count {
		if ordinal == p.self {
			continue
		}
		group.Go(func() {
			endpoint := p.members.clientURL(ordinal)
			listed, runs := p.askOne(ctx, endpoint)
			mu.Lock()
			defer mu.Unlock()
			if runs {
				found.answered++
			}
			if len(listed) > 0 {
				found.listed, found.through = listed, endpoint
			}
		})
	}
	group.Wait()
	return found
}

// askOne asks for the list of members, which only a majority can answer, and whether the member is
// running at all.
func (p peers) askOne(ctx context.Context, endpoint string) (listed []*etcdserverpb.Member, runs bool) {
	// This fails only for invalid addresses, at which no member answers either.
	_ = p.with(ctx, endpoint, func(ctx context.Context, client *clientv3.Client) error {
		var group sync.WaitGroup
		group.Go(func() {
			_, err := client.Status(ctx, endpoint)
			runs = err == nil
		})
		group.Go(func() {
			if answer, err := client.MemberList(ctx); err == nil {
				listed = answer.Members
			}
		})
		group.Wait()
		return nil
	})
	return listed, runs
}

// with calls a function with a client of one member. The socket of our own etcd has no TLS.
func (p peers) with(ctx context.Context, endpoint string, do func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	config := clientv3.Config{Endpoints: []string{endpoint}, TLS: p.tls, Logger: zap.NewNop(), Context: ctx}
	if strings.HasPrefix(endpoint, "unix:") {
		config.TLS = nil
	}
	client, err := clientv3.New(config)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", endpoint, err)
	}
	return errors.Join(do(ctx, client), client.Close())
}

// add adds this member, without a vote.
func (p peers) add(ctx context.Context, through string) error {
	return p.with(ctx, through, func(ctx context.Context, client *clientv3.Client) error {
		_, err := client.MemberAddAsLearner(ctx, []string{p.members.peerURL(p.self)})
		if err != nil {
			return fmt.Errorf("adding %s to the store: %w", p.members.name(p.self), err)
		}
		return nil
	})
}

// remove removes a member whose disk is lost.
func (p peers) remove(ctx context.Context, through string, id uint64) error {
	return p.with(ctx, through, func(ctx context.Context, client *clientv3.Client) error {
		if _, err := client.MemberRemove(ctx, id); err != nil {
			return fmt.Errorf("removing member %x, whose disk was lost, from the store: %w", id, err)
		}
		return nil
	})
}
