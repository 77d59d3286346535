// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
)

// ownAuthorities is the Secret with the authorities of a server that makes its certificate
// itself.
const ownAuthorities = "statefulset-apiserver-ca"

// ownCertificate looks at a server that makes its certificate itself: nobody sees that
// from outside, so the authorities have to do. It returns nothing if there are none.
func (e *examiner) ownCertificate(ctx context.Context, trusted []*x509.Certificate) []finding {
	about := fmt.Sprintf("authorities in secret %s/%s", e.system, ownAuthorities)
	secret, err := e.host.CoreV1().Secrets(e.system).Get(ctx, ownAuthorities, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return []finding{isUnknown(about, err)}
	}
	anew := fmt.Sprintf("kubectl -n %s delete secret %s  # the server makes another one", e.system, ownAuthorities)
	held, err := cert.ParseCertsPEM(secret.Data["ca.crt"])
	if err != nil {
		return []finding{isBroken(about, fmt.Sprintf("ca.crt holds no certificate: %v", err), anew)}
	}
	newest := slices.MaxFunc(held, func(a, b *x509.Certificate) int { return a.NotBefore.Compare(b.NotBefore) })
	if !newest.NotAfter.After(e.now) {
		return []finding{isBroken(about, fmt.Sprintf("%s has expired on %s", newest.Subject, newest.NotAfter.Format(time.DateOnly)), anew)}
	}
	for _, one := range held {
		if !slices.ContainsFunc(trusted, one.Equal) {
			return []finding{isBroken(about, fmt.Sprintf("%s is not in spec.caBundle of the APIService, which the server writes", one.Subject),
				"kubectl -n "+e.system+" logs deployment/statefulset-apiserver  # says why it cannot",
				"kubectl apply -k artifacts/base  # if it has not the right to")}
		}
	}
	if len(held) > 1 {
		return []finding{isFine(about, "%s takes the place of %d others", newest.Subject, len(held)-1)}
	}
	renewal := newest.NotBefore.Add(newest.NotAfter.Sub(newest.NotBefore) / 3 * 2)
	return []finding{isFine(about, "the cluster trusts them, and the next one is made on %s", renewal.Format(time.DateOnly))}
}
