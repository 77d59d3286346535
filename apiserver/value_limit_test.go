// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

func TestValuesOfABody(t *testing.T) {
	tests := map[string]struct {
		contentType, body string
		want              int
	}{
		"objects, lists and commas":                {"application/json", `{"a":[1,2],"b":{}}`, 5},
		"strings say nothing":                      {"application/json", `{"a":"{[,\"{[,"}`, 1},
		"a patch that copies may make many":        {"application/json-patch+json", `[{"op":"copy"}]`, mostValues},
		"a patch may hide that it copies":          {"application/json-patch+json", `[{"op":"\u0063opy"}]`, mostValues},
		"another patch is as large as it is":       {"application/json-patch+json", `[{"op":"test"}]`, 2},
		"lines of YAML":                            {"application/yaml", "a:\n- b\n- c\n", 5},
		"quotes of YAML hide nothing":              {"application/yaml", `{a: '"', b: [{},{}]}`, 6},
		"YAML that is JSON is counted as such":     {"application/apply-patch+yaml", `{"a":"---,,,"}`, 1},
		"YAML with an alias may make many":         {"application/yaml", "a: &a x\nb: *a\n", mostValues},
		"a message, its fields and what is in one": {runtime.ContentTypeProtobuf, "k8s\x00\x0a\x04\x12\x00\x12\x00\x18\x01", 4},
		"what is no message":                       {runtime.ContentTypeProtobuf, "k8s\x00\xff\xff", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := estimateValues(test.contentType, []byte(test.body)); got != test.want {
				t.Errorf("values of %q: got %d, want %d", test.body, got, test.want)
			}
		})
	}
}

// Ordinary bodies are read while large ones are, and the large ones take turns.
func TestLargeBodiesTakeTurns(t *testing.T) {
	reading, finish := make(chan struct{}), make(chan struct{})
	next := http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Errorf("reading the body again: %v", err)
		}
		if len(body) > fewValues {
			reading <- struct{}{}
			<-finish
		}
	})
	limit := newValueLimit(mebibyte, NewConfig().codecs, next)
	send := func(values int) int {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, setsPath, strings.NewReader("["+strings.Repeat(",", values-1)))
		req.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		limit.ServeHTTP(answer, req)
		if answer.Code == http.StatusTooManyRequests && answer.Header().Get("Retry-After") != "1" {
			t.Errorf("answer: got no time after which to try again in %v", answer.Header())
		}
		return answer.Code
	}
	codes := make(chan int)
	for range valuesAtOnce / mostValues {
		go func() { codes <- send(mostValues) }()
		<-reading
	}
	if got := send(fewValues + 1); got != http.StatusTooManyRequests {
		t.Errorf("one large body more: got %d, want 429", got)
	}
	if got := send(fewValues - 1); got != http.StatusOK {
		t.Errorf("an ordinary body: got %d, want 200", got)
	}
	close(finish)
	for range valuesAtOnce / mostValues {
		if got := <-codes; got != http.StatusOK {
			t.Errorf("a large body: got %d, want 200", got)
		}
	}
	go func() { <-reading }()
	if got := send(mostValues); got != http.StatusOK {
		t.Errorf("a large body when the others are read: got %d, want 200", got)
	}
}
