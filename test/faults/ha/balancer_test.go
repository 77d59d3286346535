//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package ha

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
)

// balancer stands for the Service in front of the replicas, as kube-proxy makes it:
// each new connection goes to one of the endpoints by chance, connections that are
// open stay where they are, and an endpoint that nobody listens at is no reason to
// try another one.
type balancer struct {
	listener net.Listener
	running  sync.WaitGroup

	mu        sync.Mutex
	endpoints []string
	open      map[net.Conn]string // to which endpoint
}

// newBalancer listens at an address until it is closed.
func newBalancer(ctx context.Context, address string) (*balancer, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening in the place of the service: %w", err)
	}
	b := &balancer{listener: listener, open: map[net.Conn]string{}}
	b.running.Go(b.accept)
	return b, nil
}

// add makes an endpoint eligible for new connections.
func (b *balancer) add(endpoint string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endpoints = append(b.endpoints, endpoint)
}

// remove makes an endpoint ineligible for new connections.
func (b *balancer) remove(endpoint string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endpoints = slices.DeleteFunc(b.endpoints, func(e string) bool { return e == endpoint })
}

// connections are how many lead to an endpoint now.
func (b *balancer) connections(endpoint string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, e := range b.open {
		if e == endpoint {
			n++
		}
	}
	return n
}

func (b *balancer) close() error {
	err := b.listener.Close()
	b.mu.Lock()
	for conn := range b.open {
		err = errors.Join(err, conn.Close())
	}
	b.mu.Unlock()
	b.running.Wait()
	return err
}

func (b *balancer) accept() {
	for {
		client, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.running.Go(func() { b.serve(client) })
	}
}

// serve copies both ways, until one of the two sides ends it.
func (b *balancer) serve(client net.Conn) {
	defer client.Close()
	endpoint := b.choose(client)
	if endpoint == "" {
		return
	}
	defer b.forget(client)
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", endpoint)
	if err != nil {
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	both.Wait()
}

func (b *balancer) choose(client net.Conn) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.endpoints) == 0 {
		return ""
	}
	endpoint := b.endpoints[rand.IntN(len(b.endpoints))]
	b.open[client] = endpoint
	return endpoint
}

func (b *balancer) forget(client net.Conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, client)
}
