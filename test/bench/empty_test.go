//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// emptyFlag makes this program the empty handler, in a process of its own. The arguments
// after it are a certificate, its key, the group and version, and a file with the answer.
const emptyFlag = "empty-handler"

func TestMain(m *testing.M) {
	if len(os.Args) == 6 {
		if address, ok := strings.CutPrefix(os.Args[1], "--"+emptyFlag+"="); ok {
			err := serveEmpty(address, os.Args[2], os.Args[3], os.Args[4], os.Args[5])
			fmt.Fprintf(os.Stderr, "empty handler: %v\n", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// serveEmpty answers every request about sets with the same set, and a list with as many
// of it as were created. It authenticates nobody and keeps nothing.
func serveEmpty(address, certificate, key, groupVersion, answer string) error {
	set, err := os.ReadFile(answer)
	if err != nil {
		return err
	}
	h := &empty{set: bytes.TrimSpace(set), discovery: discovery(groupVersion)}
	server := &http.Server{Addr: address, Handler: h, ReadHeaderTimeout: time.Minute}
	return server.ListenAndServeTLS(certificate, key)
}

type empty struct {
	set, discovery []byte
	sets           atomic.Int64
}

func discovery(groupVersion string) []byte {
	raw, _ := json.Marshal(map[string]any{
		"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": groupVersion,
		"resources": []any{map[string]any{"name": "statefulsets", "singularName": "statefulset", "namespaced": true, "kind": "StatefulSet",
			"verbs": []string{"create", "delete", "get", "list", "patch"}}},
	})
	return raw
}

func (h *empty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	_, resource, _ := strings.Cut(r.URL.Path, "/namespaces/")
	switch parts := strings.Count(resource, "/"); {
	case resource == "" && strings.HasPrefix(r.URL.Path, "/apis/"):
		h.answer(w, http.StatusOK, h.discovery)
	case resource == "":
		http.NotFound(w, r)
	case r.Method == http.MethodPost:
		h.sets.Add(1)
		h.answer(w, http.StatusCreated, h.set)
	case r.Method == http.MethodGet && parts == 1:
		items := bytes.Repeat(append(h.set, ','), max(1, int(h.sets.Load())))
		h.answer(w, http.StatusOK, []byte(`{"kind":"StatefulSetList","items":[`), items[:len(items)-1], []byte("]}"))
	case r.Method == http.MethodDelete:
		h.sets.Add(-1)
		h.answer(w, http.StatusOK, []byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
	default:
		h.answer(w, http.StatusOK, h.set)
	}
}

func (h *empty) answer(w http.ResponseWriter, code int, body ...[]byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	for _, part := range body {
		// Who has gone away needs no answer.
		_, _ = w.Write(part)
	}
}
