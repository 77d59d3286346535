// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// NewSwitch listens at a loopback address until the test ends, and passes each connection to the
// link that choose returns. If choose returns nil, the connection is reset.
func NewSwitch(t testing.TB, listen string, choose func(net.Conn) *Link) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", listen)
	if err != nil {
		t.Fatalf("listening for a switch: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go accept(ctx, listener, func(ctx context.Context, near net.Conn) {
		if link := choose(near); link != nil {
			link.connect(ctx, near)
			return
		}
		breakOff(near)
	})
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
	})
}

// MadeBy reports whether a process of this machine is at the other end of a connection.
func MadeBy(conn net.Conn, pid int) bool {
	socket, err := socketOf(conn.RemoteAddr(), conn.LocalAddr())
	if err != nil {
		return false
	}
	open, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "fd", "*"))
	if err != nil {
		return false
	}
	for _, fd := range open {
		if to, err := os.Readlink(fd); err == nil && to == socket {
			return true
		}
	}
	return false
}

// socketOf returns the kernel's name of the socket that connects one address to another.
func socketOf(from, to net.Addr) (string, error) {
	wanted := [2]string{}
	for i, addr := range []net.Addr{from, to} {
		text, err := inKernelsWords(addr)
		if err != nil {
			return "", err
		}
		wanted[i] = text
	}
	table, err := os.Open("/proc/net/tcp")
	if err != nil {
		return "", err
	}
	defer table.Close()
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		// The fields are the line number, both addresses, the state, queues, timer,
		// retransmissions, the user, a timeout, and the inode.
		if fields := strings.Fields(lines.Text()); len(fields) > 9 && fields[1] == wanted[0] && fields[2] == wanted[1] {
			return "socket:[" + fields[9] + "]", nil
		}
	}
	return "", fmt.Errorf("no socket connects %s to %s: %w", from, to, lines.Err())
}

// inKernelsWords formats an IPv4 address like /proc/net/tcp: in hexadecimal, with the address in
// the machine's byte order.
func inKernelsWords(addr net.Addr) (string, error) {
	parsed, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return "", fmt.Errorf("parsing an address: %w", err)
	}
	bytes := parsed.Addr().Unmap().As4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(bytes[:]), parsed.Port()), nil
}
