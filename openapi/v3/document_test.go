// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v3_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"statefulset.dev/apiserver"
	"statefulset.dev/apiserver/servertest"
)

const (
	document = "apps.statefulset.dev_v1.json"
	endpoint = "/openapi/v3/apis/apps.statefulset.dev/v1"
)

var update = flag.Bool("update", false, "write the document instead of comparing it")

// unasked is a planner: with one, the server serves all that it can.
type unasked struct{ apiserver.Planner }

func TestTheDocumentIsWhatTheServerServes(t *testing.T) {
	server := servertest.Start(t, func(c *apiserver.Config) { c.Planner = unasked{} })
	request := server.Clients.Discovery().RESTClient().Get().AbsPath(endpoint).SetHeader("Accept", "application/json")
	served, err := request.Do(t.Context()).Raw()
	if err != nil {
		t.Fatalf("getting %s: %v", endpoint, err)
	}
	want := written(t, served)
	if *update {
		if err := os.WriteFile(document, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s, of %d bytes, is not what the server serves, of %d bytes: run make generate", document, len(got), len(want))
	}
}

// written is a document with sorted keys, a line for each, and the version of the API in the place of
// the program's, which every commit changes.
func written(t *testing.T, served []byte) []byte {
	t.Helper()
	var parsed map[string]any
	if err := json.Unmarshal(served, &parsed); err != nil {
		t.Fatalf("reading what is served: %v", err)
	}
	info, ok := parsed["info"].(map[string]any)
	if !ok {
		t.Fatalf("info: got %v, want an object", parsed["info"])
	}
	info["version"] = "v1"
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(parsed); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}
