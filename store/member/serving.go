// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"context"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"statefulset.dev/store/certificates"
	"statefulset.dev/store/issuer"
	"statefulset.dev/store/rights"
)

// serving is how a member serves: with which certificates, and which requests of which clients.
type serving struct {
	clients, peers transport.TLSInfo
	rights         rights.Rights
}

// serve signs the certificates of a member, one of each CA, and renews them until ctx ends.
func (o *Options) serve(ctx context.Context, cluster members, self int, secrets typedcorev1.SecretInterface) (serving, error) {
	names, addresses := cluster.hosts(self)
	request := issuer.Request{Name: cluster.name(self), Hosts: names, IPs: addresses, Client: true, Lifetime: certificates.DefaultLifetime}
	s := serving{rights: rights.Rights{Members: cluster.names(), Server: certificates.ServerName, Prefix: o.Prefix}}
	infos := map[certificates.Authority]*transport.TLSInfo{certificates.Peers: &s.peers, certificates.Clients: &s.clients}
	for authority, info := range infos {
		files, err := certificates.Sign(ctx, filepath.Join(o.TLSDir, string(authority)), authority, request, secrets, o.Namespace)
		if err != nil {
			return serving{}, err
		}
		go files.Run(ctx)
		*info = files.TLS()
	}
	return s, nil
}
