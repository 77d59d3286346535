// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package storetls

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"k8s.io/apimachinery/pkg/util/wait"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"

	"statefulset.dev/apiserver/issuer"
	"statefulset.dev/apiserver/logthrottle"
)

// DefaultLifetime is how long a certificate is valid. It is renewed when two thirds of that
// have passed.
const DefaultLifetime = 90 * 24 * time.Hour

const (
	// pairFile has a certificate and its key, so that both are renewed at once.
	pairFile      = "tls.pem"
	authorityFile = "ca.crt"

	shortestRetry = time.Second
	longestRetry  = 10 * time.Second
)

// Files are a certificate, its key and the authority that signed it, in a directory. Etcd reads
// the first two at each handshake, and the third at its start.
type Files struct {
	directory string
	request   issuer.Request
	signer    issuer.Authority
	renewal   time.Time
}

// Make writes the files, and asks the host for the authority until it has it, or ctx ends.
func Make(ctx context.Context, directory string, request issuer.Request, secrets typedcorev1.SecretInterface, namespace string) (*Files, error) {
	f := &Files{directory: directory, request: request}
	var told logthrottle.Throttle
	backoff := wait.Backoff{Duration: shortestRetry, Factor: 2, Jitter: 0.1, Cap: longestRetry, Steps: 10}
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (done bool, err error) {
		f.signer, err = obtain(ctx, secrets, namespace, time.Now())
		if err != nil && told.IsDue(err, time.Now()) {
			klog.FromContext(ctx).Error(err, "The authority of the store is missing")
		}
		return err == nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for the authority of the store: %w", context.Cause(ctx))
	}
	if err := os.MkdirAll(directory, fileutil.PrivateDirMode); err != nil {
		return nil, fmt.Errorf("making a directory for the certificates of the store: %w", err)
	}
	return f, f.write(time.Now())
}

// Run renews the certificate, until ctx ends.
func (f *Files) Run(ctx context.Context) {
	for ctx.Err() == nil {
		timer := time.NewTimer(time.Until(f.renewal))
		select {
		case <-timer.C:
			if err := f.write(time.Now()); err != nil {
				klog.FromContext(ctx).Error(err, "Could not renew the certificate of the store")
				f.renewal = time.Now().Add(longestRetry)
			}
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// TLS is what etcd, and clients of it, use the files by. Members are known by the authority
// alone: their addresses change.
func (f *Files) TLS() transport.TLSInfo { return filesIn(f.directory) }

// Made finds files that another process has made.
func Made(directory string) (transport.TLSInfo, error) {
	found := filesIn(directory)
	_, err := os.Stat(found.CertFile)
	return found, err
}

func filesIn(directory string) transport.TLSInfo {
	pair := filepath.Join(directory, pairFile)
	return transport.TLSInfo{
		CertFile: pair, KeyFile: pair, TrustedCAFile: filepath.Join(directory, authorityFile),
		ClientCertAuth: true, SkipClientSANVerify: true,
	}
}

func (f *Files) path(name string) string { return filepath.Join(f.directory, name) }

// write makes another certificate.
func (f *Files) write(now time.Time) error {
	made, err := f.signer.Issue(f.request, now)
	if err != nil {
		return err
	}
	authority, err := issuer.EncodeCertificates([]issuer.Authority{f.signer})
	if err != nil {
		return err
	}
	pair := append(append([]byte{}, made.Certificate...), made.Key...)
	for name, content := range map[string][]byte{authorityFile: authority, pairFile: pair} {
		next := f.path(name + ".next")
		if err := os.WriteFile(next, content, fileutil.PrivateFileMode); err != nil {
			return fmt.Errorf("writing a certificate of the store: %w", err)
		}
		if err := os.Rename(next, f.path(name)); err != nil {
			return fmt.Errorf("writing a certificate of the store: %w", err)
		}
	}
	f.renewal = made.Renewal
	return nil
}
