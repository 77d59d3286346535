// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"context"
	"net"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
)

const (
	// The ConfigMap of the host cluster that contains the CAs of its clients.
	authoritiesNamespace = "kube-system"
	authoritiesName      = "extension-apiserver-authentication"

	// longestCAHold limits how long a server waits for them.
	longestCAHold = 10 * time.Second
)

// HoldUntilClientCAs accepts no connection before the server knows the CAs of clients. The generic
// server loads them while it already serves, and until then answers clients that they are
// unauthorized. Clients would not retry that.
func HoldUntilClientCAs(ctx context.Context, serving *genericapiserver.SecureServingInfo, host kubernetes.Interface,
	opts *options.DelegatingAuthenticationOptions) {
	known := serving.ClientCA
	if known == nil || opts.SkipInClusterLookup {
		return
	}
	config, err := host.CoreV1().ConfigMaps(authoritiesNamespace).Get(ctx, authoritiesName, metav1.GetOptions{})
	if err != nil {
		// The generic server has already read it, and has decided whether this error matters.
		klog.FromContext(ctx).V(2).Info("Failed to read the CAs of clients", "err", err)
		return
	}
	var wanted [][]byte
	for key, file := range map[string]string{
		"client-ca-file":               opts.ClientCert.ClientCA,
		"requestheader-client-ca-file": opts.RequestHeader.ClientCAFile,
	} {
		if bundle := bytes.TrimSpace([]byte(config.Data[key])); file == "" && len(bundle) > 0 {
			wanted = append(wanted, bundle)
		}
	}
	serving.Listener = &heldListener{Listener: serving.Listener, ctx: ctx, done: func() bool { return hasAll(known, wanted) }}
	if runner, ok := known.(dynamiccertificates.ControllerRunner); ok {
		serving.ClientCA = unhinted{known, runner}
	}
}

func hasAll(known dynamiccertificates.CAContentProvider, wanted [][]byte) bool {
	content := known.CurrentCABundleContent()
	for _, bundle := range wanted {
		if !bytes.Contains(content, bundle) {
			return false
		}
	}
	return true
}

// heldListener is a listener that accepts no connection before done returns true. Clients that
// connect meanwhile wait.
type heldListener struct {
	net.Listener
	ctx  context.Context //nolint:containedctx // Accept has none
	done func() bool
	once sync.Once
}

// Accept waits for the next connection.
func (l *heldListener) Accept() (net.Conn, error) {
	l.once.Do(func() {
		err := wait.PollUntilContextTimeout(l.ctx, 5*time.Millisecond, longestCAHold, true, func(context.Context) (bool, error) {
			return l.done(), nil
		})
		if err != nil {
			klog.FromContext(l.ctx).Info("Serving without all CAs of clients; some clients may be unauthorized", "waited", longestCAHold)
		}
	})
	return l.Listener.Accept()
}

// unhinted does not send clients the list of known CAs. A client that gets a list without its own
// CA does not send its certificate during the whole connection.
type unhinted struct {
	dynamiccertificates.CAContentProvider
	dynamiccertificates.ControllerRunner
}

// CurrentCABundleContent returns nothing.
func (unhinted) CurrentCABundleContent() []byte { return nil }
