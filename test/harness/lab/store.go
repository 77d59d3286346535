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

// StoreMember is a member of a store that servers share.
type StoreMember struct {
	Program
	// URL is its address for servers, and Data its disk.
	URL, Data string
	// Host is its address for other members, and Listen where it listens: addresses without ports.
	Host, Listen string
}

// StoreMembers returns the members of a new store, each at its own loopback address. They are not
// started. The function applies a manifest with the rights and the Secrets that members and servers
// need, and deletes the records of the store of an earlier test from the host cluster.
func (l *Lab) StoreMembers(t testing.TB, rights string, n int) []StoreMember {
	t.Helper()
	return l.storeMembers(t, rights, n, storeHosts)
}

// StoreMembersApart returns members that listen at other addresses than those at which they connect
// to each other, so that a test can put a proxy between them.
func (l *Lab) StoreMembersApart(t testing.TB, rights string, n int) []StoreMember {
	t.Helper()
	return l.storeMembers(t, rights, n, "127.0.19.")
}

// storeHosts is the prefix of the addresses at which members connect to each other. Their ordinals
// follow.
const storeHosts = "127.0.9."

// StoreMembersIn returns the members of a new store whose records and Secrets are in a separate
// namespace, next to a server with another store.
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

// Socket returns the address at which the user of the member can connect to it without TLS.
func (m StoreMember) Socket(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(m.Data, "socket"))
	if err != nil {
		t.Fatalf("finding the socket of %s: %v", m.Name, err)
	}
	return strings.TrimSpace(string(content))
}
