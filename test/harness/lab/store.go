// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// StoreMember is one of the members of a store that servers share.
type StoreMember struct {
	Program
	// URL is where servers reach it, and Data its disk.
	URL, Data string
}

// StoreMembers are the members of a new store, each at an address of loopback of its own. They are
// not started. The host gets the rights that members and servers need, from a manifest, and forgets
// what those of another test have noted.
func (l *Lab) StoreMembers(t testing.TB, rights string, n int) []StoreMember {
	t.Helper()
	l.MustKubectl(t, "", "apply", "-f", rights)
	for _, note := range []string{"configmap/statefulset-apiserver-etcd", "configmap/statefulset-apiserver-store"} {
		if l.MustKubectl(t, "", "--namespace=statefulset-system", "get", "--ignore-not-found", "--output=name", note) != "" {
			l.MustKubectl(t, "", "--namespace=statefulset-system", "annotate", "--overwrite", note, "apps.statefulset.dev/allow-delete=yes")
			l.MustKubectl(t, "", "--namespace=statefulset-system", "delete", note)
		}
	}
	root, port := t.TempDir(), FreePort(t)
	peer, health := FreePort(t), FreePort(t)
	var members []StoreMember
	for i := range n {
		name, host := fmt.Sprintf("store-%d", i), fmt.Sprintf("127.0.9.%d", i)
		data := filepath.Join(root, name)
		members = append(members, StoreMember{URL: "https://" + host + ":" + port, Data: data, Program: Program{
			Name: name, Exe: l.Program(t, Server).Exe,
			Ready: func(ctx context.Context) error {
				return getWith(ctx, http.DefaultTransport, "http://"+host+":"+health+"/readyz")
			},
			Args: Args{
				"store", "member", "--name=" + name, "--member-host=127.0.9.{ordinal}", "--listen-address=" + host,
				"--client-port=" + port, "--peer-port=" + peer, "--health-port=" + health,
				"--data-dir=" + data, "--tls-dir=" + data + "-tls", "--kubeconfig=" + l.Cluster.Kubeconfig(), fmt.Sprintf("--members=%d", n),
			},
		}})
	}
	return members
}

// Socket is where the member can be asked without TLS, by its own user.
func (m StoreMember) Socket(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(m.Data, "socket"))
	if err != nil {
		t.Fatalf("finding the socket of %s: %v", m.Name, err)
	}
	return strings.TrimSpace(string(content))
}
