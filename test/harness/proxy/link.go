// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Direction is one of the two directions in which bytes flow.
type Direction int

// The directions, as seen from the client.
const (
	Forth Direction = iota
	Back
)

// Link forwards the bytes of connections. It can be cut, and either direction can be held: held
// bytes arrive in order when the direction is released.
type Link struct {
	target string
	// patient makes connections wait for a target that is not available, like those to a Service
	// without ready endpoints, instead of resetting them.
	patient  bool
	listener net.Listener

	mu    sync.Mutex
	woken chan struct{}
	cut   bool
	held  [2]bool
	conns map[net.Conn]bool
}

// NewLink listens at a loopback address, and forwards connections to the target, an address or a
// unix:// socket, until the test ends. A patient link lets connections wait while the target is not
// available.
func NewLink(t testing.TB, listen, target string, patient bool) *Link {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", listen)
	if err != nil {
		t.Fatalf("listening for a link to %s: %v", target, err)
	}
	l := NewPath(t, target)
	l.patient, l.listener = patient, listener
	ctx, cancel := context.WithCancel(context.Background())
	go accept(ctx, listener, l.connect)
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
	})
	return l
}

// NewPath returns a link without a listener: a Switch passes connections to it.
func NewPath(t testing.TB, target string) *Link {
	t.Helper()
	l := &Link{target: target, woken: make(chan struct{}), conns: map[net.Conn]bool{}}
	t.Cleanup(l.Cut)
	return l
}

// Address returns the address at which the link listens.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Cut resets all connections, and new ones as soon as they are opened.
func (l *Link) Cut() {
	l.change(func() { l.cut = true })
	l.Reset()
}

// Reset resets all connections. New ones can be opened.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		breakOff(conn)
	}
	clear(l.conns)
}

// Hold delays a direction. Connections stay open, and new ones are still accepted.
func (l *Link) Hold(direction Direction) { l.change(func() { l.held[direction] = true }) }

// Heal ends all faults of the link. Broken connections stay broken.
func (l *Link) Heal() { l.change(func() { l.cut, l.held = false, [2]bool{} }) }

func (l *Link) change(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.woken)
	l.woken = make(chan struct{})
}

// accept handles each connection in its own goroutine, until the listener is closed.
func accept(ctx context.Context, listener net.Listener, do func(context.Context, net.Conn)) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		go do(ctx, near)
	}
}

func (l *Link) connect(ctx context.Context, near net.Conn) {
	if !l.keep(near) {
		return
	}
	defer l.drop(near)
	far, err := l.dial(ctx)
	if err != nil || !l.keep(far) {
		return
	}
	defer l.drop(far)
	done := make(chan struct{}, 2)
	for direction, ends := range [2][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			l.flow(ctx, Direction(direction), ends[0], ends[1])
			done <- struct{}{}
		}()
	}
	<-done
}

func (l *Link) dial(ctx context.Context) (net.Conn, error) {
	var dialer net.Dialer
	network, target := "tcp", l.target
	if socket, ok := strings.CutPrefix(target, "unix://"); ok {
		network, target = "unix", socket
	}
	for {
		conn, err := dialer.DialContext(ctx, network, target)
		if err == nil || !l.patient {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// flow forwards bytes until either end is closed.
func (l *Link) flow(ctx context.Context, direction Direction, from, to net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && l.mayFlow(ctx, direction) != nil {
			return
		}
		if _, failed := to.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// mayFlow waits while the direction is held.
func (l *Link) mayFlow(ctx context.Context, direction Direction) error {
	for {
		l.mu.Lock()
		held, woken := l.held[direction], l.woken
		l.mu.Unlock()
		if !held {
			return nil
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// keep registers a connection, unless the link is cut.
func (l *Link) keep(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		breakOff(conn)
		return false
	}
	l.conns[conn] = true
	return true
}

func (l *Link) drop(conn net.Conn) {
	l.mu.Lock()
	delete(l.conns, conn)
	l.mu.Unlock()
	_ = conn.Close()
}

// breakOff closes a connection so that the other end sees a reset.
func breakOff(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
