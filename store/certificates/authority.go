// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"

	"statefulset.dev/store/issuer"
)

// Authority is one of the two certificate authorities (CAs) of a store.
type Authority string

const (
	// Peers signs the certificates with which members identify themselves to each other.
	Peers Authority = "peers"
	// Clients signs the serving certificates of members and the client certificates for the store.
	Clients Authority = "clients"
)

const (
	// sharedSecret has the CA that signed for members and servers alike in earlier versions.
	// Processes of those versions trust no other CA.
	sharedSecret = "statefulset-apiserver-etcd-ca" //nolint:gosec // a name

	// chainKey is the key in a Secret for the certificate of the signing CA as signed by its
	// predecessor.
	chainKey = "chain.crt"

	// authorityLifetime is long, because etcd reads the trusted CAs only when it starts: after a CA
	// was replaced, all members and servers must restart once.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	// requestTimeout limits a request to the host cluster.
	requestTimeout = 10 * time.Second
	// mostTrusted is the number of a CA, the shared one of earlier versions, and the predecessor of
	// that.
	mostTrusted = 3
)

// Secret is the name of the Secret that holds the CA. The manifests create the Secret empty,
// because permission to create Secrets cannot be limited to a name.
func (a Authority) Secret() string {
	return "statefulset-apiserver-etcd-" + strings.TrimSuffix(string(a), "s") + "-ca"
}

// ParseAuthority parses the name of a CA. The error lists the valid ones.
func ParseAuthority(name string) (Authority, error) {
	if a := Authority(name); a == Peers || a == Clients {
		return a, nil
	}
	return "", fmt.Errorf("%q, must be %s or %s", name, Peers, Clients)
}

// trust has the CAs that processes trust, and the one that signs for them.
type trust struct {
	// trusted are the CAs, the one that signs first.
	trusted []issuer.Authority
	// chain is sent with every certificate, for processes that know only a predecessor. It is PEM,
	// and empty if there was no predecessor.
	chain []byte
}

func (t trust) signer() issuer.Authority { return t.trusted[0] }

// is reports whether both are the same.
func (t trust) is(other trust) bool {
	return bytes.Equal(t.chain, other.chain) && slices.EqualFunc(t.trusted, other.trusted, issuer.Authority.Is)
}

// succeed returns the trust after made takes over signing, with t's signature. The predecessor
// signs nothing any more, so its key is removed.
func (t trust) succeed(made issuer.Authority) (trust, error) {
	vouched, err := t.signer().CrossSign(made)
	if err != nil {
		return trust{}, err
	}
	chain, err := cert.EncodeCertificates(vouched)
	if err != nil {
		return trust{}, fmt.Errorf("encoding the CA of the store: %w", err)
	}
	next := trust{[]issuer.Authority{made}, chain}
	for _, before := range t.trusted {
		next.trusted = append(next.trusted, issuer.Authority{Certificate: before.Certificate})
	}
	return next, nil
}

// source is where the host cluster keeps a CA.
type source struct {
	secrets   typedcorev1.SecretInterface
	namespace string
	authority Authority
}

// obtain reads the trusted CAs. It fills an empty Secret with the CA that the process holds, or
// with a new one if it holds none.
func (s source) obtain(ctx context.Context, held trust, now time.Time) (trust, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	secret, err := s.get(ctx, s.authority.Secret())
	if err != nil {
		return trust{}, err
	}
	if len(secret.Data) > 0 {
		return s.parse(secret, now)
	}
	wanted, err := s.first(ctx, held, now)
	if err != nil {
		return trust{}, err
	}
	err = s.write(ctx, secret, wanted)
	if apierrors.IsConflict(err) {
		if secret, err = s.get(ctx, s.authority.Secret()); err != nil {
			return trust{}, err
		}
		return s.parse(secret, now)
	}
	if err == nil {
		klog.FromContext(ctx).Info("Wrote the CA of the store", "secret", secret.Name,
			"authority", wanted.signer().Certificate.Subject.CommonName, "trusted", len(wanted.trusted))
	}
	return wanted, err
}

// first returns the contents for an empty Secret. If an earlier version began the store, the shared
// CA signs the new one, so that processes of both versions trust each other.
func (s source) first(ctx context.Context, held trust, now time.Time) (trust, error) {
	if len(held.trusted) > 0 && usable(held.trusted, now) == nil {
		return held, nil
	}
	made, err := issuer.New(s.commonName(), now, authorityLifetime)
	if err != nil {
		return trust{}, err
	}
	secret, err := s.secrets.Get(ctx, sharedSecret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return trust{trusted: []issuer.Authority{made}}, nil
	}
	if err != nil {
		return trust{}, fmt.Errorf("reading Secret %s/%s: %w", s.namespace, sharedSecret, err)
	}
	shared, err := s.parse(secret, now)
	if err != nil {
		return trust{}, err
	}
	next, err := shared.succeed(made)
	// A process of the earlier version may know only the predecessor of the shared CA.
	next.chain = append(next.chain, shared.chain...)
	return next, err
}

func (s source) commonName() string { return "statefulset-apiserver-etcd-" + string(s.authority) }

func (s source) get(ctx context.Context, name string) (*corev1.Secret, error) {
	secret, err := s.secrets.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("the Secret %s/%s is missing: apply the manifests or the chart, which create it empty: %w", s.namespace, name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s/%s: %w", s.namespace, name, err)
	}
	return secret, nil
}

// write replaces the data of a Secret. It fails with a conflict if another process has written the
// Secret since it was read.
func (s source) write(ctx context.Context, secret *corev1.Secret, wanted trust) (err error) {
	if secret.Data, err = issuer.ToSecret(wanted.trusted); err != nil {
		return err
	}
	secret.Data[chainKey] = wanted.chain
	if _, err := s.secrets.Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing Secret %s/%s: %w", s.namespace, secret.Name, err)
	}
	return nil
}

func (s source) parse(secret *corev1.Secret, now time.Time) (trust, error) {
	all, err := issuer.FromSecret(secret.Data)
	if err == nil {
		err = usable(all, now)
	}
	if err != nil {
		return trust{}, fmt.Errorf("the Secret %s/%s cannot be used: %w; %s", s.namespace, secret.Name, err, s.remedy(secret.Name))
	}
	return trust{all, secret.Data[chainKey]}, nil
}

// remedy says what to do about a Secret that cannot be used.
func (s source) remedy(name string) string {
	if name == sharedSecret {
		return fmt.Sprintf("if no member and no server of an earlier version is running: kubectl --namespace=%s delete secret %s", s.namespace, name)
	}
	return fmt.Sprintf("to reset it: "+
		"kubectl --namespace=%s patch secret %s --type=json --patch='[{\"op\":\"remove\",\"path\":\"/data\"}]'; "+
		"running members write the CA that they use; if none is running, the first that starts writes a new one", s.namespace, name)
}

func usable(all []issuer.Authority, now time.Time) error {
	if len(all) == 0 {
		return errors.New("it has no CA")
	}
	switch a := all[0]; {
	case len(all) > mostTrusted:
		return fmt.Errorf("it has %d CAs, want at most %d", len(all), mostTrusted)
	case !a.Signs():
		return fmt.Errorf("it does not have the key of %s", a.Certificate.Subject.CommonName)
	case !a.Valid(now):
		return fmt.Errorf("%s expired on %s", a.Certificate.Subject.CommonName, a.Certificate.NotAfter.UTC().Format(time.RFC3339))
	case a.Certificate.NotBefore.After(now):
		return fmt.Errorf("%s was created on %s, but the clock of this machine says %s: set the clock",
			a.Certificate.Subject.CommonName, a.Made().UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}
