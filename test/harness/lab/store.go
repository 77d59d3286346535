// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// StoreMember is one of the members of a store that servers share.
type StoreMember struct {
	Program
	// URL is where servers reach it, and Data its disk.
	URL, Data string
	// Host is where others look for it, and Listen where it listens: addresses without ports.
	Host, Listen string
}

// StoreMembers are the members of a new store, each at an address of loopback of its own. They are
// not started. The host gets the rights and the Secrets that members and servers need, from a manifest,
// and forgets what those of another test have noted.
func (l *Lab) StoreMembers(t testing.TB, rights string, n int) []StoreMember {
	t.Helper()
	return l.storeMembers(t, rights, n, storeHosts)
}

// StoreMembersApart listen elsewhere than where they look for each other, so that a test can stand between.
func (l *Lab) StoreMembersApart(t testing.TB, rights string, n int) []StoreMember {
	t.Helper()
	return l.storeMembers(t, rights, n, "127.0.19.")
}

// storeHosts begins the addresses where members are looked for. Their ordinals follow.
const storeHosts = "127.0.9."

// StoreMembersIn are the members of a new store whose notes and Secrets are in a namespace of their own,
// beside a server with another store.
func (l *Lab) StoreMembersIn(t testing.TB, namespace, rights string, n int) []StoreMember {
	t.Helper()
	content, err := os.ReadFile(rights)
	if err != nil {
		t.Fatalf("reading the rights of members: %v", err)
	}
	l.MustKubectl(t, strings.ReplaceAll(string(content), "statefulset-system", namespace), "apply", "-f", "-")
	members := l.membersOf(t, n, storeHosts)
	for i := range members {
		members[i].Args = members[i].Args.With("store-note-namespace", namespace)
	}
	return members
}

func (l *Lab) storeMembers(t testing.TB, rights string, n int, listens string) []StoreMember {
	t.Helper()
	for _, note := range []string{
		"configmap/statefulset-apiserver-etcd", "configmap/statefulset-apiserver-store",
		"secret/statefulset-apiserver-etcd-ca", "secret/statefulset-apiserver-etcd-peer-ca",
		"secret/statefulset-apiserver-etcd-client-ca", "secret/statefulset-apiserver-etcd-server-tls",
	} {
		if l.MustKubectl(t, "", "--namespace=statefulset-system", "get", "--ignore-not-found", "--output=name", note) != "" {
			l.MustKubectl(t, "", "--namespace=statefulset-system", "annotate", "--overwrite", note, "apps.statefulset.dev/allow-delete=yes")
			l.MustKubectl(t, "", "--namespace=statefulset-system", "delete", note)
		}
	}
	l.MustKubectl(t, "", "apply", "-f", rights)
	return l.membersOf(t, n, listens)
}

func (l *Lab) membersOf(t testing.TB, n int, listens string) []StoreMember {
	t.Helper()
	root, port := t.TempDir(), FreePort(t)
	peer, health := FreePort(t), FreePort(t)
	var members []StoreMember
	for i := range n {
		name, host, listen := fmt.Sprintf("store-%d", i), storeHosts+strconv.Itoa(i), listens+strconv.Itoa(i)
		data := filepath.Join(root, name)
		members = append(members, StoreMember{URL: "https://" + host + ":" + port, Data: data, Host: host, Listen: listen, Program: Program{
			Name: name, Exe: l.Program(t, Server).Exe,
			Ready: func(ctx context.Context) error {
				return getWith(ctx, http.DefaultTransport, "http://"+listen+":"+health+"/readyz")
			},
			Args: Args{
				"store", "member", "--name=" + name, "--member-host=" + storeHosts + "{ordinal}", "--listen-address=" + listen,
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
