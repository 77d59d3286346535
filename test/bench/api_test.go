//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
)

// api speaks JSON to the host as it is, so that no client library's work is measured.
type api struct {
	client *http.Client
	host   string
}

func newAPI(t *testing.T, config *rest.Config) *api {
	t.Helper()
	client, err := rest.HTTPClientFor(unlimited(config))
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return &api{client, config.Host}
}

func (a *api) get(ctx context.Context, path string) ([]byte, error) {
	return a.do(ctx, http.MethodGet, path, "", nil)
}

func (a *api) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	return a.do(ctx, http.MethodPost, path, "application/json", body)
}

func (a *api) patch(ctx context.Context, path string, body []byte) ([]byte, error) {
	return a.do(ctx, http.MethodPatch, path, "application/merge-patch+json", body)
}

func (a *api) delete(ctx context.Context, path string) ([]byte, error) {
	return a.do(ctx, http.MethodDelete, path, "application/json", nil)
}

func (a *api) do(ctx context.Context, verb, path, contentType string, body []byte) ([]byte, error) {
	return a.send(ctx, verb, path, contentType, "application/json", body)
}

// send returns the body of a successful answer, and an error with it of any other.
func (a *api) send(ctx context.Context, verb, path, contentType, accept string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, verb, a.host+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", path, err)
	}
	request.Header.Set("Accept", accept)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: reading the answer: %w", verb, path, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, refusal{response.StatusCode, fmt.Sprintf("%s %s: got %s: %s", verb, path, response.Status, answer)}
	}
	return answer, nil
}

// refusal is an answer that is no success.
type refusal struct {
	code  int
	words string
}

func (r refusal) Error() string { return r.words }

// hasCode reports whether the error is an answer with a status code.
func hasCode(err error, code int) bool {
	var r refusal
	return errors.As(err, &r) && r.code == code
}
