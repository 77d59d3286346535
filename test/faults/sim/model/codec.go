// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restclientwatch "k8s.io/client-go/rest/watch"

	setscheme "statefulset.dev/client/clientset/versioned/scheme"
)

// codec encodes and decodes the data of one server, in each of its media types.
type codec struct {
	scheme *runtime.Scheme
	codecs serializer.CodecFactory
}

func hostCodec() codec { return codec{scheme.Scheme, scheme.Codecs} }

func setCodec() codec { return codec{setscheme.Scheme, setscheme.Codecs} }

// accepted returns the first media type of an Accept header that the server supports.
func (c codec) accepted(accept string) runtime.SerializerInfo {
	for wanted := range strings.SplitSeq(accept, ",") {
		mediaType, _, _ := strings.Cut(strings.TrimSpace(wanted), ";")
		if info, ok := runtime.SerializerInfoForMediaType(c.codecs.SupportedMediaTypes(), mediaType); ok {
			return info
		}
	}
	info, _ := runtime.SerializerInfoForMediaType(c.codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return info
}

func (c codec) encoder(info runtime.SerializerInfo, version schema.GroupVersion) runtime.Encoder {
	return runtime.WithVersionEncoder{
		Version: versions{version, metav1.Unversioned}, Encoder: info.Serializer, ObjectTyper: c.scheme,
	}
}

// versions prefers the version of the resource, and contains one for the types that all versions
// share.
type versions []schema.GroupVersion

func (v versions) KindForGroupVersionKinds(kinds []schema.GroupVersionKind) (schema.GroupVersionKind, bool) {
	return schema.GroupVersions(v).KindForGroupVersionKinds(kinds)
}

func (v versions) Identifier() string { return schema.GroupVersions(v).Identifier() }

// decode decodes the body of a request.
func (c codec) decode(body []byte, kind schema.GroupVersionKind, into runtime.Object) error {
	if _, _, err := c.codecs.UniversalDeserializer().Decode(body, &kind, into); err != nil {
		return fmt.Errorf("decoding the body: %w", err)
	}
	return nil
}

// Encode encodes a response as the client requests it, and returns its media type.
func (s *Server) Encode(request *Request, object runtime.Object) (body []byte, mediaType string, err error) {
	c, version, object := s.asked(request, object)
	info := c.accepted(request.Accept)
	body, err = runtime.Encode(c.encoder(info, version), object)
	if err != nil {
		return nil, "", fmt.Errorf("encoding the response: %w", err)
	}
	return body, info.MediaType, nil
}

// EncodeEvent encodes an event for the stream of a watch.
func (s *Server) EncodeEvent(request *Request, event watch.Event) ([]byte, error) {
	c, version, object := s.asked(request, event.Object)
	event.Object = object
	info := c.accepted(request.Accept)
	var frame bytes.Buffer
	encoder := restclientwatch.NewEncoder(
		streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(&frame), info.StreamSerializer.Serializer),
		c.encoder(info, version))
	if err := encoder.Encode(&event); err != nil {
		return nil, fmt.Errorf("encoding an event: %w", err)
	}
	return frame.Bytes(), nil
}

// StreamHeader returns the header of the response to a watch.
func (s *Server) StreamHeader(request *Request) http.Header {
	mediaType := s.codec.accepted(request.Accept).MediaType
	if mediaType != runtime.ContentTypeJSON {
		mediaType += ";stream=watch"
	}
	return http.Header{"Content-Type": {mediaType}}
}
