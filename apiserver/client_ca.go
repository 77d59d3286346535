// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

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
	"k8s.io/klog/v2"
)

const (
	// The ConfigMap of the host that has the authorities of its clients.
	authoritiesNamespace = "kube-system"
	authoritiesName      = "extension-apiserver-authentication"

	// longestIntroduction bounds how long a server waits for them.
	longestIntroduction = 10 * time.Second
)

// introduce lets no client in before the server knows the authorities of clients. The
// generic server learns them while it serves already, and tells clients until then that
// they are unauthorized, which they take for final.
func (o *Options) introduce(ctx context.Context, serving *genericapiserver.SecureServingInfo, host *host) {
	known := serving.ClientCA
	if known == nil || o.Authentication.SkipInClusterLookup {
		return
	}
	config, err := host.client.CoreV1().ConfigMaps(authoritiesNamespace).Get(ctx, authoritiesName, metav1.GetOptions{})
	if err != nil {
		// The generic server has looked already, and has decided whether this matters.
		klog.FromContext(ctx).V(2).Info("Could not read the authorities of clients", "err", err)
		return
	}
	var wanted [][]byte
	for key, given := range map[string]string{
		"client-ca-file":               o.Authentication.ClientCert.ClientCA,
		"requestheader-client-ca-file": o.Authentication.RequestHeader.ClientCAFile,
	} {
		if bundle := bytes.TrimSpace([]byte(config.Data[key])); given == "" && len(bundle) > 0 {
			wanted = append(wanted, bundle)
		}
	}
	serving.Listener = &introduction{Listener: serving.Listener, ctx: ctx, done: func() bool { return hasAll(known, wanted) }}
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

// introduction is a listener that accepts nobody before something is done. Who connects
// meanwhile waits.
type introduction struct {
	net.Listener
	ctx  context.Context //nolint:containedctx // Accept has none
	done func() bool
	once sync.Once
}

// Accept waits for the next client.
func (i *introduction) Accept() (net.Conn, error) {
	i.once.Do(func() {
		err := wait.PollUntilContextTimeout(i.ctx, 5*time.Millisecond, longestIntroduction, true, func(context.Context) (bool, error) {
			return i.done(), nil
		})
		if err != nil {
			klog.FromContext(i.ctx).Info("Serving without the authorities of all clients: some may be unauthorized", "waited", longestIntroduction)
		}
	})
	return i.Listener.Accept()
}

// unhinted does not tell clients which authorities are known. A client that is told of
// some and not of its own keeps its certificate to itself, for as long as its connection
// lasts.
type unhinted struct {
	dynamiccertificates.CAContentProvider
	dynamiccertificates.ControllerRunner
}

// CurrentCABundleContent is nothing.
func (unhinted) CurrentCABundleContent() []byte { return nil }
