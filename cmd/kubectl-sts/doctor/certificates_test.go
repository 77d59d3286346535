// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/util/cert"
)

// made is a certificate for the server, and its authority, as PEM.
func made(t *testing.T, host string) (leaf, authority []byte) {
	t.Helper()
	both, _, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := cert.ParseCertsPEM(both)
	if err != nil || len(parsed) != 2 {
		t.Fatalf("certificates: got %d (%v), want 2", len(parsed), err)
	}
	if leaf, err = cert.EncodeCertificates(parsed[0]); err != nil {
		t.Fatal(err)
	}
	if authority, err = cert.EncodeCertificates(parsed[1]); err != nil {
		t.Fatal(err)
	}
	return leaf, authority
}

// Authorities of the server stay in their Secret when somebody else makes the certificate from then on.
func TestCertificatesAreThoseOfWhomMakesThem(t *testing.T) {
	const system, host = "statefulset-system", "statefulset-apiserver.statefulset-system.svc"
	leaf, authority := made(t, host)
	_, before := made(t, host)
	other, _ := made(t, "elsewhere.statefulset-system.svc")
	tests := map[string]struct {
		annotation, mounted string
		serving             []byte
		itself              bool   // the server makes its certificate, and its Secret is missing
		broken              string // empty if nothing is
	}{
		"the server, whose Secret does not exist":      {itself: true, broken: "the Secret does not exist, and the server is not allowed to create it"},
		"the server, which the cluster does not trust": {broken: "is not in spec.caBundle of the APIService"},
		"cert-manager":                          {annotation: "cert-manager.io/inject-ca-from", mounted: servingSecret, serving: leaf},
		"Helm":                                  {annotation: "apps.statefulset.dev/keep-ca-bundle", mounted: servingSecret, serving: leaf},
		"somebody, in a Secret of another name": {annotation: "apps.statefulset.dev/keep-ca-bundle", mounted: "mine", serving: leaf},
		"cert-manager, and it is not for the server's Service": {
			annotation: "cert-manager.io/inject-ca-from", mounted: servingSecret, serving: other, broken: "the cluster does not accept it"},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			service := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
				"metadata": map[string]any{"name": serviceName, "annotations": map[string]any{test.annotation: "x"}},
				"spec": map[string]any{
					"caBundle": base64.StdEncoding.EncodeToString(authority),
					"service":  map[string]any{"namespace": system, "name": "statefulset-apiserver", "port": int64(443)},
				},
			}}
			in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: system, Name: name} }
			server := &appsv1.Deployment{ObjectMeta: in("statefulset-apiserver")}
			objects := []runtime.Object{
				&corev1.Service{ObjectMeta: in("statefulset-apiserver")},
				server,
			}
			if test.itself {
				server.Spec.Template.Spec.Containers = []corev1.Container{{Args: []string{"--tls-auto"}}}
			} else {
				objects = append(objects, &corev1.Secret{ObjectMeta: in(ownAuthorities), Data: map[string][]byte{"ca.crt": before}})
			}
			if test.mounted != "" {
				server.Spec.Template.Spec.Volumes = []corev1.Volume{
					{Name: "tls", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: test.mounted}}}}
				objects = append(objects, &corev1.Secret{ObjectMeta: in(test.mounted), Data: map[string][]byte{corev1.TLSCertKey: test.serving}})
			}
			e := &examiner{host: fake.NewClientset(objects...), dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), service),
				system: system, now: time.Now()}
			got := e.certificates(t.Context())
			var failed []string
			for _, f := range got {
				if f.verdict == unknown {
					t.Errorf("got %+v, want all looked at", f)
				}
				if f.verdict == broken {
					failed = append(failed, f.message)
				}
			}
			if (test.broken != "") != (len(failed) > 0) || !strings.Contains(strings.Join(failed, " "), test.broken) {
				t.Errorf("broken: got %q, want %q", failed, test.broken)
			}
		})
	}
}
