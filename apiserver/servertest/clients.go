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

// Create makes a set.
func (s *Server) Create(t testing.TB, set *v1.StatefulSet) *v1.StatefulSet {
	t.Helper()
	created, err := s.Sets().Create(t.Context(), set, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating set %s: %v", set.Name, err)
	}
	return created
}

// names are those of the sets that a list finds.
func (s *Server) names(t *testing.T, options metav1.ListOptions) []string {
	t.Helper()
	list, err := s.Sets().List(t.Context(), options)
	if err != nil {
		t.Fatalf("listing: %v", err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// Ready asks whether the server is.
func (s *Server) Ready(ctx context.Context) error {
	return s.Clients.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}

// Anonymous is a client without credentials.
func (s *Server) Anonymous(t *testing.T) *http.Client {
	t.Helper()
	config, err := rest.TLSConfigFor(rest.AnonymousClientConfig(s.Loopback))
	if err != nil {
		t.Fatalf("preparing a client: %v", err)
	}
	config.MinVersion = tls.VersionTLS12
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: Patience}
}

// AnswerTo is the code and the body of the answer to a request, or why there is none.
func AnswerTo(client *http.Client, req *http.Request) string {
	response, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	return read(response)
}

// read is the code and the body of an answer.
func read(response *http.Response) string {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, strings.TrimSpace(string(body)))
}

// Kubeconfig is the path of a file that leads to a host cluster.
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

// Encoded is an object in one of the encodings of the API.
func Encoded(tb testing.TB, codecs serializer.CodecFactory, encoding string, obj runtime.Object) []byte {
	tb.Helper()
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), encoding)
	text, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, v1.SchemeGroupVersion), obj)
	if err != nil {
		tb.Fatalf("encoding a %T as %s: %v", obj, encoding, err)
	}
	return text
}

// HostAt is a host cluster that a function answers for.
func HostAt(t *testing.T, answer http.HandlerFunc) *hostcluster.Host {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	host, err := hostcluster.New(Kubeconfig(t, server.URL))
	if err != nil {
		t.Fatalf("preparing the host: %v", err)
	}
	return host
}
