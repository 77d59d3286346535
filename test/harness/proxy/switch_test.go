// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy_test

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"statefulset.dev/test/harness/proxy"
)

func TestASwitchKnowsWhoHasConnected(t *testing.T) {
	target, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	go func() {
		for {
			conn, err := target.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "here")
			_ = conn.Close()
		}
	}()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	_ = free.Close()

	path := proxy.NewPath(t, target.Addr().String())
	proxy.NewSwitch(t, address, func(conn net.Conn) *proxy.Link {
		if proxy.MadeBy(conn, os.Getppid()) || !proxy.MadeBy(conn, os.Getpid()) {
			return nil
		}
		return path
	})
	ask := func() string {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if errors.Is(err, syscall.ECONNRESET) {
			// A path that is cut may break off a connection before the one who dials looks at it.
			return ""
		}
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		said, _ := io.ReadAll(conn)
		return string(said)
	}
	if got, want := ask(), "here"; got != want {
		t.Errorf("through the path of this process: got %q, want %q", got, want)
	}
	path.Cut()
	if got := ask(); got != "" {
		t.Errorf("through a path that is cut: got %q, want nothing", got)
	}
	path.Heal()
	if got, want := ask(), "here"; got != want {
		t.Errorf("through a path that was healed: got %q, want %q", got, want)
	}
}
