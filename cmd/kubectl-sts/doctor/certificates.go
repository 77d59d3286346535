// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
)

// soon is how long before the expiry of a certificate doctor warns about it.
const soon = 30 * 24 * time.Hour

// servingSecret is the Secret with the server's certificate, unless an operator uses another one.
const servingSecret = "statefulset-apiserver-serving" //nolint:gosec // a name

// certificates checks the CA that the host cluster trusts for our API, and the serving certificate
// of the server.
func (e *examiner) certificates(ctx context.Context) []finding {
	const about = "certificate authority in APIService " + serviceName
	service, err := e.apiService(ctx)
	if err != nil {
		return []finding{skipFinding(about, err)}
	}
	if service.Spec.InsecureSkipTLSVerify {
		return []finding{warnFinding(about, "insecureSkipTLSVerify is true: the cluster would trust any server",
			"kubectl edit apiservice "+serviceName+"  # set spec.caBundle, remove insecureSkipTLSVerify")}
	}
	authorities, err := cert.ParseCertsPEM(service.Spec.CABundle)
	if err != nil {
		cause := fmt.Sprintf("spec.caBundle contains no certificate: %v", err)
		return []finding{failFinding(about, cause, "kubectl edit apiservice "+serviceName)}
	}
	var found []finding
	for _, authority := range authorities {
		found = append(found, e.lifetime(about, authority))
	}
	if !service.keepsBundle() {
		if own := e.ownCertificate(ctx, authorities); own != nil {
			return append(found, own...)
		}
	}
	return append(found, e.servingCertificate(ctx, service, authorities))
}

func (e *examiner) lifetime(about string, certificate *x509.Certificate) finding {
	switch left := certificate.NotAfter.Sub(e.now); {
	case left <= 0:
		return failFinding(about, fmt.Sprintf("%s expired on %s", certificate.Subject, certificate.NotAfter.Format(time.DateOnly)),
			"kubectl -n "+e.system+" get secret "+servingSecret+"  # renew it, and spec.caBundle with it")
	case left < soon:
		return warnFinding(about, fmt.Sprintf("%s expires on %s", certificate.Subject, certificate.NotAfter.Format(time.DateOnly)),
			"kubectl -n "+e.system+" get secret "+servingSecret+"  # renew it in time")
	default:
		return okFinding(about, "%s is valid until %s", certificate.Subject, certificate.NotAfter.Format(time.DateOnly))
	}
}

// servingCertificate checks what the host cluster checks when it connects to the server.
func (e *examiner) servingCertificate(ctx context.Context, service *apiService, authorities []*x509.Certificate) finding {
	about := "serving certificate"
	if service.Spec.Service == nil {
		return skipFinding(about, errors.New("the APIService names no service"))
	}
	name := service.Spec.Service.Name + "." + service.Spec.Service.Namespace + ".svc"
	chain, err := e.servingChain(ctx, service)
	if err != nil {
		return skipFinding(about, err)
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	for _, authority := range authorities {
		roots.AddCert(authority)
	}
	for _, certificate := range chain[1:] {
		between.AddCert(certificate)
	}
	lifetime := e.lifetime(about, chain[0])
	if lifetime.verdict == broken {
		return lifetime
	}
	if _, err := chain[0].Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: between, CurrentTime: e.now}); err != nil {
		return failFinding(about, fmt.Sprintf("the cluster does not accept it for %s: %v", name, err),
			"kubectl -n "+e.system+" get secret "+servingSecret+"  # issue it for "+name+" with the CA in spec.caBundle")
	}
	return lifetime
}

// servingChain returns the server's certificate with the intermediate certificates, from its
// Secret, or from the server itself if it runs outside the cluster.
func (e *examiner) servingChain(ctx context.Context, service *apiService) ([]*x509.Certificate, error) {
	target := service.Spec.Service
	behind, err := e.host.CoreV1().Services(target.Namespace).Get(ctx, target.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	if behind.Spec.Type == corev1.ServiceTypeExternalName {
		return dial(ctx, net.JoinHostPort(behind.Spec.ExternalName, strconv.Itoa(int(target.Port))))
	}
	name, err := e.mountedSecret(ctx)
	if err != nil {
		return nil, err
	}
	secret, err := e.host.CoreV1().Secrets(e.system).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return cert.ParseCertsPEM(secret.Data[corev1.TLSCertKey])
}

// mountedSecret returns the name of the Secret from which the server reads its certificate.
func (e *examiner) mountedSecret(ctx context.Context) (string, error) {
	server, err := e.host.AppsV1().Deployments(e.system).Get(ctx, "statefulset-apiserver", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	for _, volume := range server.Spec.Template.Spec.Volumes {
		if volume.Name == "tls" && volume.Secret != nil {
			return volume.Secret.SecretName, nil
		}
	}
	return servingSecret, nil
}

// dial gets the certificates of a server. It sends no data, so it can trust any server.
func dial(ctx context.Context, address string) ([]*x509.Certificate, error) {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the chain is verified by the caller
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", address, err)
	}
	defer connection.Close()
	secure, ok := connection.(*tls.Conn)
	if !ok || len(secure.ConnectionState().PeerCertificates) == 0 {
		return nil, fmt.Errorf("%s presents no certificate", address)
	}
	return secure.ConnectionState().PeerCertificates, nil
}
