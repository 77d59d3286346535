// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"context"
	"net/http"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/scheme"
	"statefulset.dev/store/backend"
)

func TestEveryEncodingSaysTheSame(t *testing.T) {
	s := Start(t)
	s.Create(t, Web("web"))
	// Defaults are filled in because protobuf has no room for the kind of a claim
	// template, as in apps/v1.
	decoder := serializer.NewCodecFactory(scheme.NewNaming()).UniversalDecoder(v1.SchemeGroupVersion)

	var first runtime.Object
	for _, encoding := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeYAML} {
		result := s.Clients.AppsV1().RESTClient().Get().Namespace(Namespace).Resource("statefulsets").Name("web").
			SetHeader("Accept", encoding).Do(t.Context())
		raw, err := result.Raw()
		var sent string
		if result.ContentType(&sent); err != nil || sent != encoding {
			t.Fatalf("getting %s: got %s, %v", encoding, sent, err)
		}
		obj, _, err := decoder.Decode(raw, nil, nil)
		if err != nil {
			t.Fatalf("decoding %s: %v", encoding, err)
		}
		if first == nil {
			first = obj
		}
		if !equality.Semantic.DeepEqual(first, obj) {
			t.Errorf("%s: got %+v, want %+v", encoding, obj, first)
		}
	}
}

func TestASetCanBeSentAsProtobuf(t *testing.T) {
	s := Start(t)
	codecs := serializer.NewCodecFactory(scheme.NewNaming())
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	body, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, v1.SchemeGroupVersion), Web("web"))
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	var code int
	s.Clients.AppsV1().RESTClient().Post().Namespace(Namespace).Resource("statefulsets").
		SetHeader("Content-Type", runtime.ContentTypeProtobuf).Body(body).Do(t.Context()).StatusCode(&code)
	if code != http.StatusCreated {
		t.Errorf("status: got %d, want %d", code, http.StatusCreated)
	}
}

func TestSetsAreStoredAsProtobuf(t *testing.T) {
	const key = backend.Prefix + "/apps.statefulset.dev/statefulsets/default/web"
	s := Start(t)
	s.Create(t, Web("web"))
	if got := string(s.stored(t, key)); len(got) < 4 || got[:4] != "k8s\x00" {
		t.Errorf("value of %s: got %.80q, want it to begin with %q", key, got, "k8s\x00")
	}
}

func TestTheStorageEncodingCanBeChosen(t *testing.T) {
	const key = backend.Prefix + "/apps.statefulset.dev/statefulsets/default/web"
	s := StartWith(t, func(o *apiserver.Options) { o.Storage.Etcd.DefaultStorageMediaType = runtime.ContentTypeJSON })
	s.Create(t, Web("web"))
	if got := string(s.stored(t, key)); got == "" || got[0] != '{' {
		t.Errorf("value of %s: got %.80q, want JSON", key, got)
	}
}

// stored is what etcd holds.
func (s *Server) stored(t *testing.T, key string) []byte {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.etcd.Endpoint()}})
	if err != nil {
		t.Fatalf("connecting to etcd: %v", err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	response, err := client.Get(ctx, key)
	if err != nil || len(response.Kvs) != 1 {
		t.Fatalf("reading %s: got %v, %v, want one value", key, response, err)
	}
	return response.Kvs[0].Value
}
