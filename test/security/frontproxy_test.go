//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"crypto/x509"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// TestForgedFrontProxyHeaders says in the headers of the front proxy that it is an
// administrator, with every kind of certificate.
func TestForgedFrontProxyHeaders(t *testing.T) {
	t.Parallel()
	w := shared(t)
	proxy := leaf{name: "front-proxy-client"}
	forServers := leaf{name: "front-proxy-client", only: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for name, c := range map[string]struct {
		certs []pair
		code  int
	}{
		"no certificate": {nil, 401},
		"one of the cluster's authority, for servers": {[]pair{w.clusterCA.issue(t, forServers)}, 401},
		"one of the cluster's authority in the name of the proxy": {
			[]pair{w.clusterCA.issue(t, proxy)}, 403}, // a user of that name, who may nothing
		"one of another authority of the same name":            {[]pair{newAuthority(t, "front-proxy-ca").issue(t, proxy)}, 401},
		"one of the front proxy's authority with another name": {[]pair{w.frontProxyCA.issue(t, leaf{name: "somebody"})}, 401},
		"one of the front proxy's authority, for servers":      {[]pair{w.frontProxyCA.issue(t, forServers)}, 401},
		"one of the front proxy's authority with its name":     {[]pair{w.frontProxyCA.issue(t, proxy)}, 200},
		"one of the cluster's authority that names an organisation of": {
			[]pair{w.clusterCA.issue(t, leaf{name: "x", groups: []string{"front-proxy-client"}})}, 403},
	} {
		got := ask(t, w.direct(t, c.certs...), request{url: w.server() + group + "/statefulsets", header: map[string]string{
			"X-Remote-User": "admin", "X-Remote-Group": "system:masters",
		}})
		if got.code != c.code {
			t.Errorf("with %s: got %d, %s, want %d", name, got.code, got.body, c.code)
		}
	}
}

// TestForgedHeadersThroughTheHost sends the front proxy's headers by way of the host, and
// as a user with a certificate, and reads in our audit log who it was.
func TestForgedHeadersThroughTheHost(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	w.bind(t, ns, "edit", "mallory")
	forged := map[string]string{
		"X-Remote-User": "admin", "X-Remote-Group": "system:masters", "X-Remote-Uid": "forged", "X-Remote-Extra-Scopes": "forged",
	}
	config := w.as("mallory")
	for name, c := range map[string]struct {
		client *http.Client
		url    string
		uid    string
	}{
		"through the host": {through(t, config), config.Host, "uid-of-mallory"},
		"straight":         {w.direct(t, w.known(t, "mallory")), w.server(), ""},
	} {
		body := `{"apiVersion":"apps.statefulset.dev/v1","kind":"StatefulSet","metadata":{"name":"x"},"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},` +
			`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}}`
		marker := "forged-" + strings.ReplaceAll(name, " ", "-")
		got := ask(t, c.client,
			request{method: http.MethodPost, url: c.url + setsIn(ns) + "?dryRun=All&fieldManager=" + marker, body: body, header: forged})
		if got.code != http.StatusCreated {
			t.Errorf("%s: got %d, %s, want 201: mallory may create sets", name, got.code, got.body)
			continue
		}
		event := w.auditedBy(t, w.ownAudit(), marker)
		if event.User.Username != "mallory" || event.User.UID != c.uid || strings.Contains(strings.Join(event.User.Groups, " "), "masters") ||
			event.User.Extra["scopes"] != nil {
			t.Errorf("%s: got user %+v, want mallory with UID %q, without forged groups and scopes", name, event.User, c.uid)
		}
		other := ask(t, c.client, request{url: c.url + group + "/statefulsets", header: forged})
		if other.code != http.StatusForbidden || !strings.Contains(other.body, `User \"mallory\"`) {
			t.Errorf("%s, listing all sets: got %d, %s, want 403 for mallory", name, other.code, other.body)
		}
	}
}

// TestTheUIDOfAUserIsKnown checks that the UID that the host tells us arrives.
func TestTheUIDOfAUserIsKnown(t *testing.T) {
	t.Parallel()
	w := shared(t)
	ns := w.Namespace(t, "security")
	w.bind(t, ns, "edit", "uwe")
	if _, err := setsAs(t, w.as("uwe", "a-group")).AppsV1().StatefulSets(ns).Create(t.Context(), harness.NewSet("db", 0),
		metav1.CreateOptions{FieldManager: "the-uid"}); err != nil {
		t.Fatalf("creating a set: %v", err)
	}
	event := w.auditedBy(t, w.ownAudit(), "the-uid")
	if event.User.Username != "uwe" || event.User.UID != "uid-of-uwe" || !strings.Contains(strings.Join(event.User.Groups, " "), "a-group") {
		t.Errorf("our audit log: got %+v, want uwe with UID %q and group %q", event.User, "uid-of-uwe", "a-group")
	}
}
