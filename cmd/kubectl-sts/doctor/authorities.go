// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
)

// ownAuthorities is the Secret with the certificate authorities (CAs) of a server that creates its
// certificate itself.
const ownAuthorities = "statefulset-apiserver-ca"

// certificateRights returns the rights of a server that creates its certificate itself.
func certificateRights(system string) []right {
	return []right{
		{resource: "secrets", verbs: []string{"get", "update"}, name: ownAuthorities, namespace: system},
		{group: "apiregistration.k8s.io", resource: "apiservices", verbs: []string{"get", "patch"}, name: serviceName},
	}
}

// ownCertificate checks the CAs of a server that creates its certificate itself, because the
// certificate cannot be read from outside. It returns nothing if an operator provides the
// certificate of the server.
func (e *examiner) ownCertificate(ctx context.Context, trusted []*x509.Certificate) []finding {
	about := fmt.Sprintf("certificate authorities in secret %s/%s", e.system, ownAuthorities)
	itself, err := e.makesCertificate(ctx)
	if err != nil {
		return []finding{skipFinding(about, err)}
	}
	secret, err := e.host.CoreV1().Secrets(e.system).Get(ctx, ownAuthorities, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && itself:
		return []finding{failFinding(about, "the Secret does not exist, and the server is not allowed to create it",
			fmt.Sprintf("kubectl -n %s create secret generic %s  # the server fills it", e.system, ownAuthorities))}
	case apierrors.IsNotFound(err), err == nil && len(secret.Data) == 0 && !itself:
		return nil
	case err != nil:
		return []finding{skipFinding(about, err)}
	}
	if itself {
		if missing, err := e.missingRights(ctx, certificateRights(e.system)); err != nil {
			return []finding{skipFinding(about, err)}
		} else if len(missing) > 0 {
			return []finding{failFinding(about, "the server is not allowed to "+strings.Join(missing, ", "), "kubectl apply -k artifacts/base")}
		}
	}
	if len(secret.Data) == 0 {
		return []finding{failFinding(about, "the server has not filled the Secret yet",
			"kubectl -n "+e.system+" logs deployment/statefulset-apiserver  # shows why it cannot")}
	}
	return e.authorities(about, secret, trusted)
}

// makesCertificate reports whether the Deployment of the server has the flag with which the server
// creates its certificate itself. A server that runs outside the cluster has no Deployment.
func (e *examiner) makesCertificate(ctx context.Context) (bool, error) {
	server, err := e.host.AppsV1().Deployments(e.system).Get(ctx, "statefulset-apiserver", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(server.Spec.Template.Spec.Containers, func(c corev1.Container) bool {
		return slices.Contains(c.Args, "--tls-auto") || slices.Contains(c.Args, "--tls-auto=true")
	}), nil
}

// authorities checks the CAs in a Secret that the server has filled.
func (e *examiner) authorities(about string, secret *corev1.Secret, trusted []*x509.Certificate) []finding {
	anew := fmt.Sprintf(
		`kubectl -n %s patch secret %s --type=json --patch='[{"op":"remove","path":"/data"}]'  # the server generates a new CA`, e.system,
		ownAuthorities)
	held, err := cert.ParseCertsPEM(secret.Data["ca.crt"])
	if err != nil {
		return []finding{failFinding(about, fmt.Sprintf("ca.crt contains no certificate: %v", err), anew)}
	}
	newest := slices.MaxFunc(held, func(a, b *x509.Certificate) int { return a.NotBefore.Compare(b.NotBefore) })
	if !newest.NotAfter.After(e.now) {
		return []finding{failFinding(about, fmt.Sprintf("%s expired on %s", newest.Subject, newest.NotAfter.Format(time.DateOnly)), anew)}
	}
	for _, one := range held {
		if !slices.ContainsFunc(trusted, one.Equal) {
			return []finding{failFinding(about, fmt.Sprintf("%s is not in spec.caBundle of the APIService, which the server writes", one.Subject),
				"kubectl -n "+e.system+" logs deployment/statefulset-apiserver  # shows why it cannot",
				"kubectl apply -k artifacts/base  # if the server lacks the right to write it")}
		}
	}
	if len(held) > 1 {
		return []finding{okFinding(about, "%s replaces %d others", newest.Subject, len(held)-1)}
	}
	renewal := newest.NotBefore.Add(newest.NotAfter.Sub(newest.NotBefore) / 3 * 2)
	return []finding{okFinding(about, "the cluster trusts them, and the server generates the next one on %s", renewal.Format(time.DateOnly))}
}
