// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

const plaintextEtcdFlag = "etcd-insecure-plaintext"

// validatePlaintext refuses to send sets over a network without encryption, unless that is allowed.
// Connections on this machine may be unencrypted.
func (o *Options) validatePlaintext() (errs []error) {
	if o.PlaintextEtcd {
		return nil
	}
	given := o.Etcd.StorageConfig.Transport
	encrypted := o.TLSDir != "" || given.CertFile != "" || given.KeyFile != "" || given.TrustedCAFile != ""
	for _, server := range given.ServerList {
		if inTheClear(server, encrypted) {
			errs = append(errs,
				fmt.Errorf("--etcd-servers has %q, which is another machine reached without TLS: use https:// with --etcd-cafile, --etcd-certfile and --etcd-keyfile, or allow it with --%s",
					server, plaintextEtcdFlag))
		}
	}
	return errs
}

// inTheClear reports whether requests to an etcd server leave this machine unencrypted. Without a
// scheme, etcd's client encrypts if it has certificates.
func inTheClear(server string, encrypted bool) bool {
	scheme, address, ok := strings.Cut(server, "://")
	if !ok {
		scheme, address = "", server
	}
	switch strings.ToLower(scheme) {
	case "https", "unix", "unixs":
		return false
	case "":
		if encrypted || strings.HasPrefix(server, "unix:") || strings.HasPrefix(server, "unixs:") {
			return false
		}
	}
	parsed, err := url.Parse("//" + address)
	if err != nil {
		return true
	}
	host := parsed.Hostname()
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}
