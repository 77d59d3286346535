// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes/fake"
)

// authorities are those that a server has learned so far.
type authorities struct {
	dynamiccertificates.CAContentProvider
	dynamiccertificates.ControllerRunner
	content atomic.Value
}

func (a *authorities) CurrentCABundleContent() []byte { return []byte(a.content.Load().(string)) }

func TestNobodyIsLetInBeforeTheAuthoritiesAreKnown(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listening: %v", err)
	}
	defer inner.Close()
	client := fake.NewClientset(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: authoritiesNamespace, Name: authoritiesName},
		Data:       map[string]string{"client-ca-file": "users\n", "requestheader-client-ca-file": "front\n"},
	})
	known := &authorities{}
	known.content.Store("users\n")
	serving := &genericapiserver.SecureServingInfo{Listener: inner, ClientCA: known}
	HoldUntilClientCAs(t.Context(), serving, client, options.NewDelegatingAuthenticationOptions())
	if hint := serving.ClientCA.CurrentCABundleContent(); len(hint) > 0 {
		t.Errorf("authorities that clients are told of: got %q, want none", hint)
	}

	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	defer connection.Close()
	var early atomic.Bool
	accepted := make(chan error, 1)
	go func() {
		got, err := serving.Listener.Accept()
		early.Store(known.content.Load() != "users\n\nfront\n")
		if err == nil {
			_ = got.Close()
		}
		accepted <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	select {
	case err := <-accepted:
		t.Errorf("with the authority of users alone: got a connection, error %v, want none accepted", err)
		return
	case <-ctx.Done():
	}
	known.content.Store("users\n\nfront\n")
	if err := <-accepted; err != nil || early.Load() {
		t.Errorf("with both authorities: got error %v, accepted early %v", err, early.Load())
	}
}
