//go:build security

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package security

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/test/harness"
	"statefulset.dev/test/harness/lab"
)

const group = "/apis/apps.statefulset.dev/v1"

// setsIn is the path of the sets of a namespace.
func setsIn(ns string) string { return group + "/namespaces/" + ns + "/statefulsets" }

// answer is what came back.
type answer struct {
	code   int
	body   string
	header http.Header
}

// request is what is asked; GET unless the method says otherwise.
type request struct {
	method, url, body string
	header            map[string]string
}

// try sends a request, and follows no redirect.
func try(ctx context.Context, client *http.Client, r request) (answer, error) {
	if r.method == "" {
		r.method = http.MethodGet
	}
	out, err := http.NewRequestWithContext(ctx, r.method, r.url, strings.NewReader(r.body))
	if err != nil {
		return answer{}, err
	}
	if r.body != "" {
		out.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.header {
		out.Header.Set(name, value)
	}
	response, err := client.Do(out)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, string(body), response.Header}, err
}

func ask(t testing.TB, client *http.Client, r request) answer {
	t.Helper()
	got, err := try(t.Context(), client, r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.url, err)
	}
	return got
}

// direct speaks straight to our servers, past the host, with the given certificates.
func (w *world) direct(t testing.TB, certs ...pair) *http.Client {
	t.Helper()
	config := &tls.Config{RootCAs: poolOf(w.servingCA), MinVersion: tls.VersionTLS12}
	for _, cert := range certs {
		// Also to a server that does not say that it knows the authority.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			certificate := cert.tls(t)
			return &certificate, nil
		}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return unredirected(transport)
}

func unredirected(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, Timeout: harness.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// known is the certificate of a user of the cluster.
func (w *world) known(t testing.TB, user string, groups ...string) pair {
	t.Helper()
	return w.clusterCA.issue(t, leaf{name: user, groups: groups})
}

// admin speaks straight to our servers as one who may do everything.
func (w *world) admin(t testing.TB) *http.Client {
	t.Helper()
	return w.direct(t, w.known(t, "security-admin", "system:masters"))
}

func (w *world) server() string { return w.URL(lab.Server) }

// as leads through the host, as somebody else.
func (w *world) as(user string, groups ...string) *rest.Config {
	config := rest.CopyConfig(w.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, UID: "uid-of-" + user, Groups: append(groups, "system:authenticated")}
	return config
}

// through is a client for plain requests that lead through the host.
func through(t testing.TB, config *rest.Config) *http.Client {
	t.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return unredirected(transport)
}

func setsAs(t testing.TB, config *rest.Config) versioned.Interface {
	t.Helper()
	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return client
}

func hostAs(t testing.TB, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("creating a client: %v", err)
	}
	return client
}

// bind gives a user a ClusterRole in a namespace, with a right to sets or to their scale, waits
// until the host knows, and returns what takes it away.
func (w *world) bind(t testing.TB, ns, role, user string) (revoke func()) {
	t.Helper()
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "security-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	made, err := w.Host.RbacV1().RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("binding role %s: %v", role, err)
	}
	harness.Eventually(t, "the host knows the role of "+user, func(ctx context.Context) error {
		for _, subresource := range []string{"", "scale"} {
			review, err := w.Host.AuthorizationV1().SubjectAccessReviews().Create(ctx,
				&authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
						Namespace: ns, Verb: "get", Group: "apps.statefulset.dev", Version: "v1", Resource: "statefulsets", Subresource: subresource,
					},
				}}, metav1.CreateOptions{})
			if err != nil || review.Status.Allowed {
				return err
			}
		}
		return errors.New("the host does not allow it yet")
	})
	return func() {
		if err := w.Host.RbacV1().RoleBindings(ns).Delete(t.Context(), made.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("unbinding role %s: %v", role, err)
		}
	}
}

// role makes a ClusterRole that lasts as long as the test.
func (w *world) role(t testing.TB, rules ...rbacv1.PolicyRule) string {
	t.Helper()
	made, err := w.Host.RbacV1().ClusterRoles().Create(t.Context(),
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "security-"}, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating a role: %v", err)
	}
	t.Cleanup(func() {
		_ = w.Host.RbacV1().ClusterRoles().Delete(context.Background(), made.Name, metav1.DeleteOptions{})
	})
	return made.Name
}

func (w *world) create(t testing.TB, ns string, set *v1.StatefulSet) *v1.StatefulSet {
	t.Helper()
	made, err := w.Sets.AppsV1().StatefulSets(ns).Create(t.Context(), set, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating set %s: %v", set.Name, err)
	}
	return made
}

func (w *world) awaitReady(t testing.TB, ns, name string, replicas int32) {
	t.Helper()
	harness.Eventually(t, fmt.Sprintf("set %s has %d ready members", name, replicas), func(ctx context.Context) error {
		set, err := w.Sets.AppsV1().StatefulSets(ns).Get(ctx, name, metav1.GetOptions{})
		if err == nil && (set.Status.ReadyReplicas != replicas || set.Status.Replicas != replicas ||
			set.Status.ObservedGeneration != set.Generation || set.Status.UpdatedReplicas != replicas) {
			err = fmt.Errorf("got %+v", set.Status)
		}
		return err
	})
}

// pods are the UIDs of the pods of a namespace, by name.
func (w *world) pods(t testing.TB, ns string) map[string]string {
	t.Helper()
	list, err := w.Host.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	pods := map[string]string{}
	for _, pod := range list.Items {
		pods[pod.Name] = string(pod.UID)
	}
	return pods
}
