// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bodylimit

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

func TestValuesOfABody(t *testing.T) {
	tests := map[string]struct {
		contentType, body string
		want              int
	}{
		"objects, lists and commas":                {"application/json", `{"a":[1,2],"b":{}}`, 5},
		"strings say nothing":                      {"application/json", `{"a":"{[,\"{[,"}`, 1},
		"a patch that copies may make many":        {"application/json-patch+json", `[{"op":"copy"}]`, MostValues},
		"a patch may hide that it copies":          {"application/json-patch+json", `[{"op":"\u0063opy"}]`, MostValues},
		"another patch is as large as it is":       {"application/json-patch+json", `[{"op":"test"}]`, 2},
		"lines of YAML":                            {"application/yaml", "a:\n- b\n- c\n", 5},
		"quotes of YAML hide nothing":              {"application/yaml", `{a: '"', b: [{},{}]}`, 6},
		"YAML that is JSON is counted as such":     {"application/apply-patch+yaml", `{"a":"---,,,"}`, 1},
		"YAML with an alias may make many":         {"application/yaml", "a: &a x\nb: *a\n", MostValues},
		"a message, its fields and what is in one": {runtime.ContentTypeProtobuf, "k8s\x00\x0a\x04\x12\x00\x12\x00\x18\x01", 4},
		"items of CBOR, with their keys":           {"application/cbor", "\xa2\x61a\x82\x01\x02\x61b\xa0", 7},
		"texts of CBOR say nothing":                {"application/apply-patch+cbor", "\x78\x04\xa0\xa0\xa0\xa0", 1},
		"CBOR without lengths":                     {"application/cbor", "\x9f\xa0\x7f\x61a\xff\xff", 6},
		"CBOR that is cut off":                     {"application/cbor", "\x82\x1a\x01", 2},
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
	codecs := serializer.NewCodecFactory(runtime.NewScheme())
	limit := New(1<<20, codecs, next)
	send := func(values int) int {
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/apis", strings.NewReader("["+strings.Repeat(",", values-1)))
		req.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		limit.ServeHTTP(answer, req)
		if answer.Code == http.StatusTooManyRequests && answer.Header().Get("Retry-After") != "1" {
			t.Errorf("answer: got no time after which to try again in %v", answer.Header())
		}
		return answer.Code
	}
	codes := make(chan int)
	for range valuesAtOnce / MostValues {
		go func() { codes <- send(MostValues) }()
		<-reading
	}
	if got := send(fewValues + 1); got != http.StatusTooManyRequests {
		t.Errorf("one large body more: got %d, want 429", got)
	}
	if got := send(fewValues - 1); got != http.StatusOK {
		t.Errorf("an ordinary body: got %d, want 200", got)
	}
	close(finish)
	for range valuesAtOnce / MostValues {
		if got := <-codes; got != http.StatusOK {
			t.Errorf("a large body: got %d, want 200", got)
		}
	}
	go func() { <-reading }()
	if got := send(MostValues); got != http.StatusOK {
		t.Errorf("a large body when the others are read: got %d, want 200", got)
	}
}
