// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// usualPorts are the default ports of each listener. They are used if they are free.
func usualPorts() map[string]int {
	return map[string]int{
		etcdName:       2379,
		etcdPeer:       2380,
		apiserverName:  6443,
		kcmName:        10257,
		schedulerName:  10259,
		kwokName:       10247,
		aggregatedName: 6444,
	}
}

// maxPortOffset keeps the ports below the range that the kernel uses for outgoing connections.
const maxPortOffset = 12000

// movePorts makes a new cluster choose its ports further up, so that it uses no port that another
// cluster frees for a moment.
func (s *supervisor) movePorts(offset int) error {
	if offset < 0 || offset > maxPortOffset {
		return usageError{fmt.Sprintf("--port-offset %d: want 0 to %d", offset, maxPortOffset)}
	}
	if len(s.state.Ports) == 0 {
		s.state.PortOffset = offset
	}
	return nil
}

const (
	portStep  = 100
	portTries = 100
)

// choosePort returns wanted if nothing listens there, and otherwise the first free port a multiple
// of portStep above it. It stays below the range that the kernel uses for outgoing connections: one
// of those could occupy the port when its owner restarts.
func choosePort(ctx context.Context, wanted int, used map[string]int) (int, error) {
	for i := range portTries {
		port := wanted + i*portStep
		if !inUse(port, used) && portFree(ctx, port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port on %s: tried %d to %d in steps of %d", loopback, wanted, wanted+(portTries-1)*portStep, portStep)
}

func portFree(ctx context.Context, port int) bool {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", localAddress(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func inUse(port int, used map[string]int) bool {
	for _, p := range used {
		if p == port {
			return true
		}
	}
	return false
}

func localAddress(port int) string {
	return net.JoinHostPort(loopback, strconv.Itoa(port))
}
