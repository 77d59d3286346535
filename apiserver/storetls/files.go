// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package storetls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	// lookInterval is how often a process looks whether another authority signs.
	lookInterval = time.Minute
)

// Files are a certificate, its key and the authorities to trust, in a directory. Etcd reads the
// first two at each handshake, and the third at its start.
type Files struct {
	directory string
	request   issuer.Request
	trust     trust
	renewal   time.Time
	// look finds out whom to trust now, every so often.
	look     func(context.Context) (trust, error)
	interval time.Duration
}

// Make writes the files, and asks the host for the authority until it has it, or ctx ends.
func Make(ctx context.Context, directory string, request issuer.Request, secrets typedcorev1.SecretInterface, namespace string) (*Files, error) {
	f := &Files{directory: directory, request: request, interval: lookInterval}
	f.look = func(ctx context.Context) (trust, error) { return obtain(ctx, secrets, namespace, time.Now()) }
	var told logthrottle.Throttle
	backoff := wait.Backoff{Duration: shortestRetry, Factor: 2, Jitter: 0.1, Cap: longestRetry, Steps: 10}
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (done bool, err error) {
		f.trust, err = f.look(ctx)
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

// Run renews the certificate in time, and when another authority signs, until ctx ends.
func (f *Files) Run(ctx context.Context) {
	var told logthrottle.Throttle
	backoff := wait.Backoff{Duration: f.interval, Jitter: 0.2, Steps: 1}
	_ = backoff.DelayFunc().Until(ctx, false, true, func(ctx context.Context) (done bool, err error) {
		if err := f.refresh(ctx, time.Now()); err != nil && ctx.Err() == nil && told.IsDue(err, time.Now()) {
			klog.FromContext(ctx).Error(err, "Could not look after the certificate of the store; the one that is there is used on")
		}
		return false, nil
	})
}

// refresh makes another certificate if that is due. An authority that cannot be read now goes on to
// sign.
func (f *Files) refresh(ctx context.Context, now time.Time) error {
	found, err := f.look(ctx)
	if err == nil && !found.is(f.trust) {
		klog.FromContext(ctx).Info("The authority of the store is another one", "signs", found.signer().Certificate.Subject.CommonName, "trusted", len(found.trusted))
		f.trust, f.renewal = found, now
	}
	if now.Before(f.renewal) {
		return err
	}
	return errors.Join(err, f.write(now))
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
	made, err := f.trust.signer().Issue(f.request, now)
	if err != nil {
		return err
	}
	authority, err := issuer.EncodeCertificates(f.trust.trusted)
	if err != nil {
		return err
	}
	pair := slices.Concat(made.Certificate, f.trust.chain, made.Key)
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
