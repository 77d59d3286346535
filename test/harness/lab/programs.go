// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// BuiltIn returns a kube-controller-manager that runs only the named controllers, each with its own
// service account, without leader election.
func (l *Lab) BuiltIn(t testing.TB, name string, controllers ...string) Program {
	t.Helper()
	program := l.WithPort(t, l.Program(t, ControllerManager), name)
	program.Args = program.Args.With("controllers", strings.Join(controllers, ","))
	return program
}

// SecondHost returns another kube-apiserver with the etcd of the first one, at its own port. With
// another address of that etcd (such as that of a proxy) in its --etcd-servers, it can have a
// different view.
func (l *Lab) SecondHost(t testing.TB, name string) Program {
	t.Helper()
	program := l.WithPort(t, l.Program(t, HostAPI), name)
	program.Args = program.Args.With("audit-log-path", l.Path("logs", name+"-audit.log"))
	return program
}

// Etcd is a separate etcd for a test.
type Etcd struct {
	Program
	// URL is its address for clients, in plain text.
	URL string
	// Data is its data directory.
	Data string
}

// EtcdMembers returns the members of a new etcd cluster that uses plain text and syncs to disk.
// They are not started. None becomes ready before a majority of them is started.
func (l *Lab) EtcdMembers(t testing.TB, n int) []Etcd {
	t.Helper()
	exe, root := l.Program(t, HostEtcd).Exe, t.TempDir()
	var members []Etcd
	var cluster []string
	for i := range n {
		name, client, peer := fmt.Sprintf("etcd-%d", i), "http://127.0.0.1:"+FreePort(t), "http://127.0.0.1:"+FreePort(t)
		data := filepath.Join(root, name)
		cluster = append(cluster, name+"="+peer)
		members = append(members, Etcd{URL: client, Data: data, Program: Program{
			Name: "own-" + name, Exe: exe, Ready: func(ctx context.Context) error { return getWith(ctx, http.DefaultTransport, client+"/health") },
			Args: Args{
				"--name=" + name, "--data-dir=" + data, "--listen-client-urls=" + client, "--advertise-client-urls=" + client,
				"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
			},
		}})
	}
	for i := range members {
		members[i].Args = members[i].Args.With("initial-cluster", strings.Join(cluster, ","))
	}
	return members
}

// Etcd starts an etcd with one member.
func (l *Lab) Etcd(t testing.TB) Etcd {
	t.Helper()
	member := l.EtcdMembers(t, 1)[0]
	l.Start(t, member.Program)
	return member
}

// Kubeconfig writes a copy of a kubeconfig with another server address, and returns its path.
func (l *Lab) Kubeconfig(t testing.TB, from, url string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(from)
	if err != nil {
		t.Fatalf("reading a kubeconfig: %v", err)
	}
	for _, cluster := range config.Clusters {
		cluster.Server = url
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return path
}

// Direct returns the configuration of a client that connects directly to one of our servers, as
// administrator, without the host cluster.
func (l *Lab) Direct(url string) *rest.Config {
	config := rest.CopyConfig(l.Config)
	config.Host = url
	config.CAData, config.CAFile = nil, l.Path("registration", "serving-ca.crt")
	return config
}
