// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/hostcluster"
)

// Create creates a set.
func (s *Server) Create(t testing.TB, set *v1.StatefulSet) *v1.StatefulSet {
	t.Helper()
	created, err := s.Sets().Create(t.Context(), set, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating set %s: %v", set.Name, err)
	}
	return created
}

// names returns the names of the sets in a list.
func (s *Server) names(t *testing.T, options metav1.ListOptions) []string {
	t.Helper()
	list, err := s.Sets().List(t.Context(), options)
	if err != nil {
		t.Fatalf("listing sets: %v", err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// Ready returns an error if the server is not ready.
func (s *Server) Ready(ctx context.Context) error {
	return s.Clients.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// Anonymous returns a client without credentials.
func (s *Server) Anonymous(t *testing.T) *http.Client {
	t.Helper()
	config, err := rest.TLSConfigFor(rest.AnonymousClientConfig(s.Loopback))
	if err != nil {
		t.Fatalf("creating an anonymous client: %v", err)
	}
	config.MinVersion = tls.VersionTLS12
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: Patience}
}

// AnswerTo returns the status code and the body of the response to a request, or the error.
func AnswerTo(client *http.Client, req *http.Request) string {
	response, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	return read(response)
}

// read returns the status code and the body of a response.
func read(response *http.Response) string {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, strings.TrimSpace(string(body)))
}

// Kubeconfig writes a kubeconfig for a host cluster, and returns its path.
func Kubeconfig(t *testing.T, url string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["host"] = &clientcmdapi.Cluster{Server: url}
	config.Contexts["host"] = &clientcmdapi.Context{Cluster: "host"}
	config.CurrentContext = "host"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatalf("writing a kubeconfig: %v", err)
	}
	return path
}

// Encoded encodes an object in one of the encodings of the API.
func Encoded(tb testing.TB, codecs serializer.CodecFactory, encoding string, obj runtime.Object) []byte {
	tb.Helper()
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), encoding)
	text, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, v1.SchemeGroupVersion), obj)
	if err != nil {
		tb.Fatalf("encoding a %T as %s: %v", obj, encoding, err)
	}
	return text
}

// HostAt returns a host cluster for which a function answers requests.
func HostAt(t *testing.T, answer http.HandlerFunc) *hostcluster.Host {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	host, err := hostcluster.New(Kubeconfig(t, server.URL))
	if err != nil {
		t.Fatalf("preparing the host cluster: %v", err)
	}
	return host
}
