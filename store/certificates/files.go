// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"statefulset.dev/store/logthrottle"
)

const (
	// pairFile has a certificate and its key, so that both are renewed at once.
	pairFile      = "tls.pem"
	authorityFile = "ca.crt"

	shortestRetry = time.Second
	longestRetry  = 10 * time.Second
	// refreshInterval is how often a process reads the Secrets.
	refreshInterval = time.Minute
)

// Files are a certificate, its key and the trusted CAs, in a directory. Etcd reads the first two at
// each handshake, and the third when it starts.
type Files struct {
	directory string
	interval  time.Duration
	// refresh writes the files again if necessary.
	refresh func(ctx context.Context, now time.Time) error
	// also runs after each refresh, and never prevents the start of a process.
	also func(ctx context.Context, now time.Time) error
}

// await writes the files for the first time. It retries until that succeeds or ctx ends.
func (f *Files) await(ctx context.Context) error {
	if err := os.MkdirAll(f.directory, fileutil.PrivateDirMode); err != nil {
		return fmt.Errorf("creating a directory for the certificates of the store: %w", err)
	}
	var throttle logthrottle.Throttle
	backoff := wait.Backoff{Duration: shortestRetry, Factor: 2, Jitter: 0.1, Cap: longestRetry, Steps: 10}
	err := backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (done bool, err error) {
		err = f.refresh(ctx, time.Now())
		if err != nil && throttle.IsDue(err, time.Now()) {
			klog.FromContext(ctx).Error(err, "Waiting for a certificate of the store")
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for a certificate of the store: %w", context.Cause(ctx))
	}
	return nil
}

// Run renews the certificate in time, and when another CA signs, until ctx ends.
func (f *Files) Run(ctx context.Context) {
	var refreshing, others logthrottle.Throttle
	backoff := wait.Backoff{Duration: f.interval, Jitter: 0.2, Steps: 1}
	_ = backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (done bool, err error) {
		if err := f.refresh(ctx, time.Now()); err != nil && ctx.Err() == nil && refreshing.IsDue(err, time.Now()) {
			klog.FromContext(ctx).Error(err, "Failed to renew the certificate of the store; keeping the current one")
		}
		if f.also == nil {
			return false, nil
		}
		if err := f.also(ctx, time.Now()); err != nil && ctx.Err() == nil && others.IsDue(err, time.Now()) {
			klog.FromContext(ctx).Error(err, "Failed to renew the certificate of the servers; they keep the current one")
		}
		return false, nil
	})
}

// TLS returns the options with which etcd and its clients use the files. Members are identified by
// the CA and the name in their certificate, because their addresses change.
func (f *Files) TLS() transport.TLSInfo { return filesIn(f.directory) }

// FindFiles finds files that another process has written.
func FindFiles(directory string) (transport.TLSInfo, error) {
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

// write replaces the files, each in one step.
func (f *Files) write(authorities, pair []byte) error {
	for name, content := range map[string][]byte{authorityFile: authorities, pairFile: pair} {
		path := filepath.Join(f.directory, name)
		if err := os.WriteFile(path+".next", content, fileutil.PrivateFileMode); err != nil {
			return fmt.Errorf("writing a certificate of the store: %w", err)
		}
		if err := os.Rename(path+".next", path); err != nil {
			return fmt.Errorf("writing a certificate of the store: %w", err)
		}
	}
	return nil
}
