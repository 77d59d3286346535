// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	v1 "statefulset.dev/api/apps/v1"
)

const jsonType = "application/json"

// Transport returns a transport that presents our StatefulSets as those of apps/v1 to a typed
// client: in reads, lists, watches, writes and patches, and in subresources. All other requests
// pass unchanged. It supports JSON only; a request in another encoding fails.
func Transport(next http.RoundTripper) http.RoundTripper { return transport{next} }

type transport struct {
	next http.RoundTripper
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	path, of, ok := pathOfOurs(request.URL.Path)
	if !ok {
		return t.next.RoundTrip(request)
	}
	adapted := request.Clone(request.Context())
	adapted.URL.Path, adapted.URL.RawPath = path, ""
	adapted.Header.Set("Accept", acceptable(request.Header.Get("Accept")))
	// Without this header, the next transport negotiates the compression itself, and decompresses the
	// answer.
	adapted.Header.Del("Accept-Encoding")
	if err := adaptBody(adapted); err != nil {
		return nil, fmt.Errorf("sending StatefulSets of apps/v1 as %s: %w", v1.SchemeGroupVersion, err)
	}
	response, err := t.next.RoundTrip(adapted)
	if err != nil {
		return nil, err
	}
	of.verb = strings.ToLower(request.Method)
	return adaptResponse(response, of, isWatch(request))
}

// pathOfOurs translates the path of a request for StatefulSets of apps/v1. The address of the
// cluster may have a path of its own.
func pathOfOurs(path string) (translated string, of subject, ok bool) {
	before, rest, ok := strings.Cut(path, "/apis/"+appsv1.SchemeGroupVersion.String()+"/")
	if !ok {
		return "", subject{}, false
	}
	words := strings.Split(rest, "/")
	if len(words) > 2 && words[0] == "namespaces" {
		words = words[2:]
	}
	if words[0] != resource {
		return "", subject{}, false
	}
	if len(words) > 1 {
		of.name = words[1]
	}
	return before + "/apis/" + v1.SchemeGroupVersion.String() + "/" + rest, of, true
}

func isWatch(request *http.Request) bool {
	watch := request.URL.Query().Get("watch")
	return request.Method == http.MethodGet && (watch == "true" || watch == "1")
}

// acceptable removes everything except JSON from an Accept header. JSON can also be a table or a
// list of metadata.
func acceptable(header string) string {
	var kept []string
	for media := range strings.SplitSeq(header, ",") {
		if kind, _, err := mime.ParseMediaType(media); err == nil && kind == jsonType {
			kept = append(kept, strings.TrimSpace(media))
		}
	}
	if len(kept) == 0 {
		return jsonType
	}
	return strings.Join(kept, ", ")
}

func adaptBody(request *http.Request) error {
	if request.Body == nil || request.Body == http.NoBody {
		return nil
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	if err := request.Body.Close(); err != nil {
		return fmt.Errorf("closing the body: %w", err)
	}
	if len(body) > 0 {
		if body, err = bodyForOurs(request.Header.Get("Content-Type"), body); err != nil {
			return err
		}
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	request.ContentLength = int64(len(body))
	return nil
}

func adaptResponse(response *http.Response, of subject, watch bool) (*http.Response, error) {
	if response.StatusCode >= http.StatusBadRequest {
		return inPlainWords(response, of)
	}
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != jsonType {
		return response, nil
	}
	if watch {
		response.Body = newFrames(response.Body)
		return response, nil
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if body, err = documentAsBuiltIn(body); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	withBody(response, body)
	return response, nil
}

func withBody(response *http.Response, body []byte) {
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Set("Content-Length", fmt.Sprint(len(body)))
}
