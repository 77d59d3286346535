// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// A push that breaks off at any request leaves no tag that leads to half an image, and the
// next one finishes it.
func TestAPushThatBreaksOffLeavesNoTag(t *testing.T) {
	built, err := (source{}).assemble(t.Context(), small(t), time.Unix(0, 0), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want, err := built.image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for broken := int64(1); ; broken++ {
		var requests atomic.Int64
		inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if requests.Add(1) == broken {
				http.Error(w, "broken off", http.StatusForbidden)
				return
			}
			inner.ServeHTTP(w, req)
		}))
		to, err := name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/small:v1")
		if err != nil {
			t.Fatal(err)
		}
		first := push(t.Context(), built.image, to, io.Discard)
		whole := requests.Load() < broken
		if _, err := remote.Head(to); first != nil && err == nil {
			t.Errorf("broken off at request %d: the tag is there, want none", broken)
		}
		if err := push(t.Context(), built.image, to, io.Discard); err != nil {
			t.Errorf("after a push that was broken off at request %d: got %v", broken, err)
		}
		got, err := remote.Head(to)
		if err != nil || got.Digest != want {
			t.Errorf("what the tag leads to: got %v, %v, want %v", got, err, want)
		}
		server.Close()
		if whole {
			t.Logf("broken off at each of %d requests", broken-1)
			return
		}
	}
}
