// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"errors"
	"strings"
	"testing"
)

func TestEtcdOnAnotherMachineIsNotReachedInTheClear(t *testing.T) {
	for name, test := range map[string]struct {
		servers []string
		ca      string
		allowed bool
		refused string // the server that the error names, empty if there is none
	}{
		"another machine":                        {[]string{"http://10.0.0.1:2379"}, "", false, "http://10.0.0.1:2379"},
		"another machine, by name":               {[]string{"http://etcd.example:2379"}, "", false, "http://etcd.example:2379"},
		"another machine, in capitals":           {[]string{"HTTP://etcd.example:2379"}, "", false, "HTTP://etcd.example:2379"},
		"a name that begins like this machine's": {[]string{"http://localhost.example:2379"}, "", false, "http://localhost.example:2379"},
		"this machine as a user's name": {
			[]string{"http://localhost:x@etcd.example:2379"}, "", false, "http://localhost:x@etcd.example:2379"},
		"every address of this machine": {[]string{"http://0.0.0.0:2379"}, "", false, "http://0.0.0.0:2379"},
		"another machine beside one with TLS": {
			[]string{"https://a.example:2379", "http://b.example:2379"}, "ca.crt", false, "http://b.example:2379"},
		"a scheme that says so, with certificates": {[]string{"http://etcd.example:2379"}, "ca.crt", false, "http://etcd.example:2379"},
		"no scheme and no certificates":            {[]string{"etcd.example:2379"}, "", false, "etcd.example:2379"},
		"no scheme, with certificates":             {[]string{"etcd.example:2379"}, "ca.crt", false, ""},
		"another machine, when that is allowed":    {[]string{"http://10.0.0.1:2379"}, "", true, ""},
		"TLS":                                      {[]string{"https://10.0.0.1:2379"}, "ca.crt", false, ""},
		"this machine": {
			[]string{"http://127.0.0.1:2379", "http://[::1]:2379", "http://localhost:2379", "127.0.0.1:2379"}, "", false, ""},
		"a socket": {[]string{"unix:///run/etcd.sock", "unix:/run/etcd.sock"}, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := NewOptions()
			o.Etcd.StorageConfig.Transport.ServerList, o.Etcd.StorageConfig.Transport.TrustedCAFile = test.servers, test.ca
			o.PlaintextEtcd = test.allowed
			refusal := errors.Join(o.Validate()...)
			if got, want := refusal != nil, test.refused != ""; got != want {
				t.Fatalf("servers %q: got %v, want refused: %t", test.servers, refusal, want)
			}
			for _, part := range []string{"--etcd-servers", test.refused, "--etcd-cafile", "--" + plaintextEtcdFlag} {
				if refusal != nil && !strings.Contains(refusal.Error(), part) {
					t.Errorf("refusal: got %q, want it to have %q", refusal, part)
				}
			}
		})
	}
}

func TestPlaintextIsForAnExternalEtcd(t *testing.T) {
	o := NewOptions()
	o.PlaintextEtcd = true
	if err := errors.Join(o.Validate()...); err == nil || !strings.Contains(err.Error(), "set --etcd-servers too") {
		t.Errorf("without --etcd-servers: got %v, want an error that asks for it", err)
	}
}
