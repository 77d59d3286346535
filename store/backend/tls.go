// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"statefulset.dev/store/certificates"
)

const tlsDirFlag = "etcd-tls-auto"

func (o *Options) validateTLSDir() []error {
	given := o.Etcd.StorageConfig.Transport
	if o.TLSDir != "" && (given.CertFile != "" || given.KeyFile != "" || given.TrustedCAFile != "") {
		return []error{
			fmt.Errorf("--%s receives a certificate, but --etcd-certfile %q, --etcd-keyfile %q and --etcd-cafile %q name one: set one or the other",
				tlsDirFlag, given.CertFile, given.KeyFile, given.TrustedCAFile)}
	}
	return nil
}

// ReceiveTLS waits for the certificate with which this server identifies itself to the members of
// our own store, if TLSDir is set. The members sign it. ReceiveTLS also installs renewed
// certificates until ctx ends.
func (o *Options) ReceiveTLS(ctx context.Context, secrets typedcorev1.SecretInterface, namespace string) error {
	if o.TLSDir == "" {
		return nil
	}
	files, err := certificates.Receive(ctx, o.TLSDir, secrets, namespace)
	if err != nil {
		return err
	}
	go files.Run(ctx)
	o.use(files.TLS())
	return nil
}

// reuseTLS uses the certificate that a running server has received.
func (o *Options) reuseTLS() error {
	if o.TLSDir == "" {
		return nil
	}
	made, err := certificates.FindFiles(o.TLSDir)
	if err != nil {
		return fmt.Errorf("--%s %q has no certificate of a server: %w; run this in the container of a server", tlsDirFlag, o.TLSDir, err)
	}
	o.use(made)
	return nil
}

func (o *Options) use(made transport.TLSInfo) {
	given := &o.Etcd.StorageConfig.Transport
	given.CertFile, given.KeyFile, given.TrustedCAFile = made.CertFile, made.KeyFile, made.TrustedCAFile
}
