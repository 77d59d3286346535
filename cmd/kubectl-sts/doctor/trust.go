// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"

	v1 "statefulset.dev/api/apps/v1"
)

// trust checks that the server trusts what the host cluster says about users: the host cluster
// publishes the CA for this, and a test request must succeed.
func (e *examiner) trust(ctx context.Context) []finding {
	return append(e.frontProxyAuthority(ctx), e.passage(ctx))
}

func (e *examiner) frontProxyAuthority(ctx context.Context) []finding {
	const (
		about = "front-proxy CA in kube-system/extension-apiserver-authentication"
		key   = "requestheader-client-ca-file"
	)
	published, err := e.host.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(ctx, "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		return []finding{skipFinding(about, err)}
	}
	authorities, err := cert.ParseCertsPEM([]byte(published.Data[key]))
	if err != nil {
		return []finding{failFinding(about, fmt.Sprintf("%s contains no certificate: %v", key, err),
			"# start kube-apiserver with --requestheader-client-ca-file, --proxy-client-cert-file and --proxy-client-key-file")}
	}
	var found []finding
	for _, authority := range authorities {
		f := e.lifetime(about, authority)
		if f.verdict != fine {
			f.fix = []string{"# renew the front-proxy certificates of the control plane, with kubeadm: kubeadm certs renew front-proxy-client"}
		}
		found = append(found, f)
	}
	return found
}

// passage sends one harmless request on the path that all requests take.
func (e *examiner) passage(ctx context.Context) finding {
	about := "a request through the cluster to " + v1.SchemeGroupVersion.String()
	err := e.sets.AppsV1().RESTClient().Get().AbsPath("/apis/" + v1.SchemeGroupVersion.String()).Do(ctx).Error()
	logs := "kubectl -n " + e.system + " logs deployment/statefulset-apiserver"
	switch {
	case err == nil:
		return okFinding(about, "is answered")
	case apierrors.IsUnauthorized(err):
		return failFinding(about, "the server does not trust the cluster's front proxy: "+err.Error(), logs,
			"kubectl -n kube-system get rolebinding statefulset-apiserver-authentication-reader")
	case apierrors.IsForbidden(err):
		return failFinding(about, "is forbidden: "+err.Error(), "kubectl get clusterrolebinding statefulset-apiserver-auth-delegator")
	default:
		return failFinding(about, err.Error(), "kubectl get apiservice "+serviceName, logs)
	}
}
