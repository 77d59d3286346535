// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"statefulset.dev/client/clientset/versioned"
)

// Connect returns the clients of the cluster that kubeconfig leads to, and its namespace. An empty path stands
// for what kubectl would take, and in a pod for the pod's own cluster. Requests are not limited in their
// rate: the cluster says when there are too many. Nothing is sent yet.
func Connect(kubeconfig string) (clients *versioned.Clientset, namespace string, err error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("reading the way to the cluster: %w", err)
	}
	if namespace, _, err = loader.Namespace(); err != nil {
		return nil, "", fmt.Errorf("reading the namespace: %w", err)
	}
	clients, err = New(config)
	return clients, namespace, err
}

// New is Connect for a way that is known already.
func New(config *rest.Config) (*versioned.Clientset, error) {
	if err := Check(config); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	clients, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating the clients: %w", err)
	}
	return clients, nil
}

// Check says what of the way to a cluster cannot work, whatever is at its end: an address that is none, a
// certificate or a key that cannot be read, a token that no header can carry.
func Check(config *rest.Config) error {
	if err := checkHost(config.Host); err != nil {
		return err
	}
	if err := checkToken(config); err != nil {
		return err
	}
	return checkCertificates(config.TLSClientConfig)
}

func checkHost(host string) error {
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	address, err := url.Parse(host)
	switch {
	case err != nil:
		return fmt.Errorf("host: %w", err)
	case address.Scheme != "https" && address.Scheme != "http":
		return fmt.Errorf("host %q: want https:// or http://", host)
	case address.Hostname() == "":
		return fmt.Errorf("host %q has no name", host)
	}
	return nil
}

// checkToken does not repeat the token.
func checkToken(config *rest.Config) error {
	token := config.BearerToken
	if token == "" && config.BearerTokenFile != "" {
		text, err := os.ReadFile(config.BearerTokenFile)
		if err != nil {
			return fmt.Errorf("token: %w", err)
		}
		if token = strings.TrimSpace(string(text)); token == "" {
			return fmt.Errorf("token: %s is empty", config.BearerTokenFile)
		}
	}
	if i := strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }); i >= 0 {
		return fmt.Errorf("token: character %d of %d cannot stand in a header", i+1, len(token))
	}
	return nil
}

func checkCertificates(c rest.TLSClientConfig) error {
	authorities, err := content(c.CAData, c.CAFile)
	if err != nil {
		return fmt.Errorf("certificate authority: %w", err)
	}
	if len(authorities) > 0 && !x509.NewCertPool().AppendCertsFromPEM(authorities) {
		return errors.New("certificate authority: there is no certificate in PEM in it")
	}
	certificate, err := content(c.CertData, c.CertFile)
	if err != nil {
		return fmt.Errorf("client certificate: %w", err)
	}
	key, err := content(c.KeyData, c.KeyFile)
	if err != nil {
		return fmt.Errorf("client key: %w", err)
	}
	if len(certificate)+len(key) == 0 {
		return nil
	}
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		return fmt.Errorf("client certificate and key: %w", err)
	}
	return nil
}

func content(data []byte, file string) ([]byte, error) {
	if len(data) > 0 || file == "" {
		return data, nil
	}
	return os.ReadFile(file)
}
