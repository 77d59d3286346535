// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package servertest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/apiserver/bodylimit"
)

const (
	setsPath  = "/apis/apps.statefulset.dev/v1/namespaces/default/statefulsets"
	mebibyte  = 1 << 20
	bodyLimit = 3 * mebibyte
	typeMeta  = `"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet"`
)

// hostile is a request that must be refused in a way that its sender understands.
type hostile struct {
	method, path string // POST to setsPath by default
	contentType  string // JSON by default
	encoding     string
	body         io.Reader
	code         int
	says         string
}

// doubled is a patch that makes a list, and copies it into a new one, again and again.
func doubled(times int) io.Reader {
	operations := []string{`{"op":"add","path":"/spec/template/spec/x","value":[{},{}]}`}
	for range times {
		operations = append(operations,
			`{"op":"add","path":"/spec/template/spec/y","value":[]}`,
			`{"op":"copy","from":"/spec/template/spec/x","path":"/spec/template/spec/y/0"}`,
			`{"op":"copy","from":"/spec/template/spec/x","path":"/spec/template/spec/y/0"}`,
			`{"op":"move","from":"/spec/template/spec/y","path":"/spec/template/spec/x"}`)
	}
	return strings.NewReader("[" + strings.Join(operations, ",") + "]")
}

func tooLarge(t *testing.T) map[string]hostile {
	t.Helper()
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	if _, err := io.CopyN(writer, endless{}, 64*mebibyte); err != nil {
		t.Fatalf("compressing: %v", err)
	}
	if err := writer.Close(); err != nil {
		t.Fatalf("compressing: %v", err)
	}
	copies := make([]string, 0, 200)
	for range cap(copies) {
		copies = append(copies, `{"op":"copy","from":"/metadata/annotations","path":"/metadata/annotations/x"}`)
	}
	operations := `[` + strings.Repeat(`{"op":"test","path":"/a","value":1},`, 10001) + `{"op":"test","path":"/a","value":1}]`
	return map[string]hostile{
		"a body above the limit":   {body: bytes.NewReader(bytes.Repeat([]byte(" "), bodyLimit+1)), code: 413, says: "limit is 3145728"},
		"a body without an end":    {body: endless{}, code: 413, says: "limit is 3145728"},
		"a compressed body":        {body: &zipped, encoding: "gzip", code: 400},
		"a set too large for etcd": {body: jsonOf(t, withEnv(5000, 350)), code: 413, says: "etcd"},
		"a set of 2.5 MiB":         {body: jsonOf(t, withEnv(5000, 500)), code: 413, says: "etcd"},
		"annotations of 1 MiB": {body: jsonOf(t, func(s *v1.StatefulSet) {
			s.Annotations = map[string]string{"a": strings.Repeat("x", mebibyte)}
		}), code: 422, says: "metadata.annotations"},
		"a patch of many operations": {method: "PATCH", path: setsPath + "/web", contentType: "application/json-patch+json",
			body: strings.NewReader(operations), code: 413, says: "10000"},
		"a patch that copies a lot": {method: "PATCH", path: setsPath + "/web", contentType: "application/json-patch+json",
			body: text("[%s]", strings.Join(copies, ",")), code: 422},
		"a patch above the limit": {method: "PATCH", path: setsPath + "/web", contentType: "application/merge-patch+json", body: endless{},
			code: 413, says: "limit is 3145728"},
		"many empty objects": {body: text(`{%s,"spec":{"template":{"spec":{"containers":[%s{}]}}}}`, typeMeta,
			strings.Repeat("{},", bodylimit.MostValues)), code: 413, says: "limit is 100000"},
		"many nulls": {body: text(`{%s,"spec":{"template":{"spec":{"containers":[%snull]}}}}`, typeMeta,
			strings.Repeat("null,", bodylimit.MostValues)), code: 413, says: "limit is 100000"},
		"many empty messages": {
			body: emptyContainers(t, bodylimit.MostValues), contentType: runtime.ContentTypeProtobuf, code: 413, says: "limit is 100000"},
		"many lines of YAML": {body: strings.NewReader("a:\n" + strings.Repeat("- {}\n", bodylimit.MostValues)),
			contentType: "application/yaml", code: 413, says: "limit is 100000"},
		"YAML with many aliases": {body: text("a: &a [%s0]\nb: [%s*a]\n", strings.Repeat("0,", 1500), strings.Repeat("*a,", 89)),
			contentType: "application/yaml", code: 413, says: "limit is 100000"},
		"a patch that makes many": {method: "PATCH", path: setsPath + "/web", contentType: "application/json-patch+json", body: doubled(16),
			code: 422, says: "limit is 100000"},
		"delete options above a limit": {method: "DELETE", path: setsPath + "/web", body: endless{}, code: 413, says: "limit is 3145728"},
	}
}

func malformed(t *testing.T) map[string]hostile {
	t.Helper()
	deep := strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for name := 'b'; name < 'l'; name++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", name, name, strings.Repeat(fmt.Sprintf("*%c,", name-1), 9), name-1)
	}
	return map[string]hostile{
		"nothing":              {body: text(""), code: 400},
		"half of it":           {body: text(`{%s,"spec":{`, typeMeta), code: 400, says: "unexpected"},
		"a list":               {body: text(`[]`), code: 400, says: "cannot unmarshal array"},
		"deep JSON":            {body: strings.NewReader(deep), code: 400, says: "depth"},
		"deep JSON in a field": {body: text(`{%s,"spec":%s}`, typeMeta, deep), code: 400, says: "depth"},
		"a YAML bomb":          {body: strings.NewReader(bomb), contentType: "application/yaml", code: 400, says: "aliasing"},
		"a YAML bomb as apply": {method: "PATCH", path: setsPath + "/web?fieldManager=x", contentType: "application/apply-patch+yaml",
			body: strings.NewReader(bomb), code: 400, says: "aliasing"},
		"a key twice": {path: setsPath + "?fieldValidation=Strict",
			body: text(`{%s,"spec":{"replicas":1,"replicas":2}}`, typeMeta), code: 400, says: "duplicate field"},
		"another kind":               {body: text(`{"apiVersion":"v1","kind":"Pod"}`), code: 400},
		"a number that is too large": {body: text(`{%s,"spec":{"replicas":99999999999}}`, typeMeta), code: 400, says: "int32"},
		"a type nobody knows":        {body: text("x"), contentType: "text/plain", code: 415, says: "application/json"},
		"protobuf that is none":      {body: text("k8s\x00\xff\xff"), contentType: runtime.ContentTypeProtobuf, code: 400},
		"JSON said to be protobuf":   {body: text(`{%s}`, typeMeta), contentType: runtime.ContentTypeProtobuf, code: 400},
		"protobuf with a strange union": {contentType: runtime.ContentTypeProtobuf, code: 400,
			says: "spec.updateStrategy.rollingUpdate.maxUnavailable", body: protobufOf(t, func(s *v1.StatefulSet) {
				s.Spec.UpdateStrategy = v1.StatefulSetUpdateStrategy{
					Type: "RollingUpdate", RollingUpdate: &v1.RollingUpdateStatefulSetStrategy{MaxUnavailable: &intstr.IntOrString{Type: 7, IntVal: 1}}}
			})},
		"protobuf that is no text": {contentType: runtime.ContentTypeProtobuf, code: 400, says: "UTF-8",
			body: protobufOf(t, func(s *v1.StatefulSet) { s.Annotations = map[string]string{"a": "\xff\xfe"} })},
		"a patch that is none": {
			method: "PATCH", path: setsPath + "/web", contentType: "application/json-patch+json", body: text(`{"op":"x"}`), code: 400},
		"a patch of an unknown type": {
			method: "PATCH", path: setsPath + "/web", contentType: "text/plain", body: text(`{}`), code: 415, says: "Unsupported Media Type"},
		"another name than in the URL": {
			method: "PUT", path: setsPath + "/web", body: jsonOf(t, func(*v1.StatefulSet) {}), code: 400, says: "name"},
	}
}

func invalidRequests(t *testing.T) map[string]hostile {
	t.Helper()
	get := func(query string, code int, says string) hostile {
		return hostile{method: "GET", path: setsPath + query, body: text(""), code: code, says: says}
	}
	return map[string]hostile{
		"a name of 10000 characters": {
			body: jsonOf(t, func(s *v1.StatefulSet) { s.Name = strings.Repeat("x", 10000) }), code: 422, says: "metadata.name"},
		"a label of 1000 characters": {body: jsonOf(t,
			func(s *v1.StatefulSet) { s.Labels = map[string]string{"a": strings.Repeat("x", 1000)} }), code: 422, says: "metadata.labels"},
		"a selector that matches other": {body: jsonOf(t, func(s *v1.StatefulSet) { s.Spec.Selector.MatchLabels = map[string]string{"b": "c"} }),
			code: 422, says: "spec.template.metadata.labels"},
		"replicas below zero": {
			body: jsonOf(t, func(s *v1.StatefulSet) { s.Spec.Replicas = ptr.To[int32](-1) }), code: 422, says: "spec.replicas"},
		"a field selector":               get("?fieldSelector=spec.x%3D1", 400, "spec.x"),
		"a field selector without sense": get("?fieldSelector=%3D%3D%3D%21", 400, "invalid"),
		"a label selector":               get("?labelSelector=a+in+(", 400, "unable to parse requirement"),
		"a label selector of 500 KiB":    get("?labelSelector="+strings.Repeat("x", 500<<10), 400, "63"),
		"a continue token":               get("?limit=1&continue=xyz", 400, "continue"),
		"a limit that is no number":      get("?limit=x", 400, "x"),
		"a watch of a strange version":   get("?watch=1&resourceVersion=abc", 400, "abc"),
		"a watch of a negative version":  get("?watch=1&resourceVersion=-5", 400, "-5"),
		"a list of a strange version":    get("?resourceVersion=abc", 400, "abc"),
		"a list of an exact version":     get("?resourceVersion=abc&resourceVersionMatch=Exact", 400, "abc"),
		"a get of a strange version":     get("/web?resourceVersion=abc", 400, "abc"),
		"a list of a strange match":      get("?resourceVersionMatch=Sideways", 422, "resourceVersionMatch"),
		"initial events without a match": get("?watch=1&sendInitialEvents=true", 422, "resourceVersionMatch"),
		"a name with a slash":            get("/..%2f..%2f..%2fhealthz", 404, ""),
		"a path above the root":          get("/../../../../../../etc/passwd", 404, ""),
		"two slashes":                    {method: "GET", path: "//apis//apps.statefulset.dev//v1", body: text(""), code: 404},
		"a path of 100 KiB":              get("/"+strings.Repeat("x", 100<<10), 404, ""),
		"a header of 2 MiB": {
			method: "GET", path: setsPath, contentType: strings.Repeat("x", 2*mebibyte), body: text(""), code: 431},
		"an unknown method": {method: "BREW", path: setsPath, body: text(""), code: 405},
		"an upgrade":        {method: "GET", path: setsPath + "/web/exec", body: text(""), code: 404},
	}
}

func TestHostileRequestsAreRefusedWithAReason(t *testing.T) {
	s := Start(t)
	s.Create(t, Web("web"))
	client, err := rest.HTTPClientFor(withoutHTTP2(s.Loopback))
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, group := range []map[string]hostile{tooLarge(t), malformed(t), invalidRequests(t)} {
		for name, request := range group {
			t.Run(name, func(t *testing.T) { request.check(t, client, s.Loopback.Host) })
		}
	}
	if got := s.names(t, metav1.ListOptions{}); len(got) != 1 || got[0] != "web" {
		t.Errorf("sets afterwards: got %q, want [web]", got)
	}
	if err := s.Clients.Discovery().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error(); err != nil {
		t.Errorf("the server afterwards: got %v, want it ready", err)
	}
}

// Large sets that fit are accepted.
func TestALargeSetIsAccepted(t *testing.T) {
	tests := map[string]func(*v1.StatefulSet){
		"5000 environment variables": withEnv(5000, 10),
		"a set of 1 MiB":             withEnv(1000, mebibyte/1000),
		"16000 labels": func(set *v1.StatefulSet) {
			set.Labels = map[string]string{}
			for i := range 16000 {
				set.Labels[fmt.Sprintf("label-%d", i)] = "x"
			}
		},
	}
	s := Start(t)
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			set := Web("large")
			change(set)
			s.Create(t, set)
			read, err := s.Sets().Get(t.Context(), "large", metav1.GetOptions{})
			if err != nil {
				t.Fatalf("get: %v", err)
			}
			read.Spec.Replicas = ptr.To[int32](5)
			if _, err := s.Sets().Update(t.Context(), read, metav1.UpdateOptions{}); err != nil {
				t.Errorf("sending it back, with the record of who manages what: %v", err)
			}
			if err := s.Sets().Delete(t.Context(), "large", metav1.DeleteOptions{}); err != nil {
				t.Errorf("delete: %v", err)
			}
		})
	}
}

func (h hostile) check(t *testing.T, client *http.Client, host string) {
	t.Helper()
	method, path, contentType := h.method, h.path, h.contentType
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = setsPath
	}
	if contentType == "" {
		contentType = runtime.ContentTypeJSON
	}
	request, err := http.NewRequestWithContext(t.Context(), method, host+path, h.body)
	if err != nil {
		t.Fatalf("preparing the request: %v", err)
	}
	request.Header.Set("Content-Type", contentType)
	if h.encoding != "" {
		request.Header.Set("Content-Encoding", h.encoding)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatalf("sending the request: %v", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, mebibyte))
	if err != nil {
		t.Fatalf("reading the answer: %v", err)
	}
	if response.StatusCode != h.code || !strings.Contains(string(answer), h.says) {
		t.Errorf("answer: got %d %.300s, want %d and %q in it", response.StatusCode, answer, h.code, h.says)
	}
}

// withoutHTTP2 sends bodies that a server stops reading: with HTTP/2 the client sees a
// reset instead of the answer.
func withoutHTTP2(config *rest.Config) *rest.Config {
	plain := rest.CopyConfig(config)
	plain.NextProtos = []string{"http/1.1"}
	return plain
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
