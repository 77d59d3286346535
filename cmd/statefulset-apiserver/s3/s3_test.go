// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const bucket = "copies"

// server speaks the protocol of S3. Requests can be refused, or ended in the middle.
type server struct {
	*httptest.Server
	refuse atomic.Bool
	cut    atomic.Bool
}

func newServer(t *testing.T) *server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	s := &server{}
	answer := gofakes3.New(backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.refuse.Load() {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`))
			return
		}
		if s.cut.Load() && r.Method == http.MethodPut {
			panic(http.ErrAbortHandler)
		}
		answer.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "somebody")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return s
}

func (s *server) open(t *testing.T, prefix string) *Bucket {
	t.Helper()
	opened, err := Open(&url.URL{Scheme: "s3", Host: bucket, Path: prefix, RawQuery: "region=us-east-1&endpoint=" + url.QueryEscape(s.URL)},
		false)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

func put(t *testing.T, b *Bucket, name, content string) {
	t.Helper()
	if err := b.Put(t.Context(), name, strings.NewReader(content), int64(len(content))); err != nil {
		t.Fatalf("writing %s: %v", name, err)
	}
}

func list(t *testing.T, b *Bucket) []string {
	t.Helper()
	names, err := b.List(t.Context())
	if err != nil {
		t.Fatalf("listing: %v", err)
	}
	slices.Sort(names)
	return names
}

func TestABucketKeepsWhatItIsGiven(t *testing.T) {
	s := newServer(t)
	ours, others := s.open(t, "/team/sets/"), s.open(t, "/team")
	put(t, others, "notes", "of somebody else")
	put(t, ours, "first.unverified", "content")
	put(t, ours, "second", "more")
	if err := ours.Rename(t.Context(), "first.unverified", "first"); err != nil {
		t.Fatalf("renaming: %v", err)
	}
	if got, want := list(t, ours), []string{"first", "second"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var got bytes.Buffer
	if err := ours.Get(t.Context(), "first", &got); err != nil || got.String() != "content" {
		t.Errorf("got %q and error %v, want %q", got.String(), err, "content")
	}
	for range 2 {
		if err := ours.Remove(t.Context(), "first"); err != nil {
			t.Errorf("removing, also what is gone: %v", err)
		}
	}
	if got, want := list(t, ours), []string{"second"}; !slices.Equal(got, want) {
		t.Errorf("after removing: got %v, want %v", got, want)
	}
	if got := list(t, others); !slices.Contains(got, "notes") {
		t.Errorf("of somebody else: got %v, want notes to be there", got)
	}
	if err := ours.Get(t.Context(), "first", &got); err == nil {
		t.Error("reading what is gone: got no error")
	}
}

func TestABucketTellsWhatWentWrong(t *testing.T) {
	s := newServer(t)
	b := s.open(t, "")
	put(t, b, "first", "content")
	s.refuse.Store(true)
	var nothing bytes.Buffer
	for what, err := range map[string]error{
		"listing":  func() error { _, err := b.List(t.Context()); return err }(),
		"writing":  b.Put(t.Context(), "second", strings.NewReader("x"), 1),
		"reading":  b.Get(t.Context(), "first", &nothing),
		"renaming": b.Rename(t.Context(), "first", "third"),
		"removing": b.Remove(t.Context(), "first"),
	} {
		if err == nil || !strings.Contains(err.Error(), "Access Denied") {
			t.Errorf("%s when it is forbidden: got error %v, want Access Denied", what, err)
		}
	}
	s.refuse.Store(false)
	s.cut.Store(true)
	if err := b.Put(t.Context(), "second", strings.NewReader("x"), 1); err == nil {
		t.Error("writing when connections end: got no error")
	}
	s.cut.Store(false)
	if got, want := list(t, b), []string{"first"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAURLIsReadOrRefused(t *testing.T) {
	const plain = "which is another machine, without TLS: use https://, or allow it with --backup-insecure-plaintext"
	cases := map[string]struct{ url, want string }{
		"a bucket of AWS":              {"s3://bucket/team/sets", ""},
		"a bucket without prefix":      {"s3://bucket", ""},
		"a bucket elsewhere":           {"s3://bucket?endpoint=https://minio.example:9000&region=eu-1", ""},
		"another machine without TLS":  {"s3://bucket?endpoint=http://minio.example:9000", `endpoint is "http://minio.example:9000", ` + plain},
		"the same in capitals":         {"s3://bucket?endpoint=HTTP://minio.example", plain},
		"an address without TLS":       {"s3://bucket?endpoint=http://10.0.0.1:9000", plain},
		"a name that looks local":      {"s3://bucket?endpoint=http://localhost.example", plain},
		"this machine without TLS":     {"s3://bucket?endpoint=http://localhost:9000", ""},
		"this machine, by its address": {"s3://bucket?endpoint=http://[::1]:9000", ""},
		"no bucket":                    {"s3:///prefix", "want s3://BUCKET/PREFIX"},
		"credentials in it":            {"s3://me:secret@bucket", "want s3://BUCKET/PREFIX"},
		"a parameter that we ignore":   {"s3://bucket?acl=public", `unknown parameter "acl"`},
		"an endpoint without scheme":   {"s3://bucket?endpoint=minio.example", `endpoint is "minio.example"`},
		"an endpoint with a path":      {"s3://bucket?endpoint=https://minio.example/s3", `endpoint is "https://minio.example/s3"`},
		"an endpoint of another kind":  {"s3://bucket?endpoint=ftp://minio.example", `endpoint is "ftp://minio.example"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			at, err := url.Parse(c.url)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Open(at, false)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got error %v, want one that says %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("got error %v, want none that tells credentials", err)
			}
		})
	}
}

func TestPlaintextIsWhatWasAskedFor(t *testing.T) {
	at := &url.URL{Scheme: "s3", Host: bucket, RawQuery: "endpoint=http://minio.example:9000"}
	if _, err := Open(at, true); err != nil {
		t.Errorf("with --backup-insecure-plaintext: got error %v, want none", err)
	}
}
