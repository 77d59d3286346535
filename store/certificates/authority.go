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

// Authority is one of the two certificate authorities of a store.
type Authority string

const (
	// Peers signs the certificates that members show each other.
	Peers Authority = "peers"
	// Clients signs what members serve with, and what clients of the store show to them.
	Clients Authority = "clients"
)

const (
	// sharedSecret has the one authority that signed for members and servers alike in earlier
	// versions. Processes of those versions trust no other authority.
	sharedSecret = "statefulset-apiserver-etcd-ca" //nolint:gosec // a name

	// chainKey is where a Secret has the certificate of the authority that signs as its
	// predecessor has signed it.
	chainKey = "chain.crt"

	// authorityLifetime is long, because etcd reads whom to trust at its start only: when another
	// authority has taken its place, all members have to be restarted once, and servers, too.
	authorityLifetime = 10 * 365 * 24 * time.Hour
	// requestTimeout bounds a question to the host cluster.
	requestTimeout = 10 * time.Second
	// mostTrusted are an authority, the shared one of earlier versions, and the predecessor of that.
	mostTrusted = 3
)

// Secret is the name of the Secret that holds the authority. The manifests create it empty, since a
// right to create Secrets cannot be limited to a name.
func (a Authority) Secret() string {
	return "statefulset-apiserver-etcd-" + strings.TrimSuffix(string(a), "s") + "-ca"
}

// ParseAuthority reads the name of an authority. The error lists the valid ones.
func ParseAuthority(name string) (Authority, error) {
	if a := Authority(name); a == Peers || a == Clients {
		return a, nil
	}
	return "", fmt.Errorf("%q, must be %s or %s", name, Peers, Clients)
}

// trust is whom processes trust, and who signs for them.
type trust struct {
	// trusted are the authorities, the one that signs first.
	trusted []issuer.Authority
	// chain is what is shown with every certificate to those who know a predecessor only. PEM,
	// empty if there was none.
	chain []byte
}

func (t trust) signer() issuer.Authority { return t.trusted[0] }

// is says whether two are the same.
func (t trust) is(other trust) bool {
	return bytes.Equal(t.chain, other.chain) && slices.EqualFunc(t.trusted, other.trusted, issuer.Authority.Is)
}

// succeed returns what follows when made signs from now on, and t vouches for it. The predecessor
// signs nothing any more, so its key goes.
func (t trust) succeed(made issuer.Authority) (trust, error) {
	vouched, err := t.signer().Vouch(made)
	if err != nil {
		return trust{}, err
	}
	chain, err := cert.EncodeCertificates(vouched)
	if err != nil {
		return trust{}, fmt.Errorf("encoding the authority of the store: %w", err)
	}
	next := trust{[]issuer.Authority{made}, chain}
	for _, before := range t.trusted {
		next.trusted = append(next.trusted, issuer.Authority{Certificate: before.Certificate})
	}
	return next, nil
}

// source is where the host cluster keeps an authority.
type source struct {
	secrets   typedcorev1.SecretInterface
	namespace string
	authority Authority
}

// obtain reads whom to trust. An empty Secret is filled: with what the process holds, if it holds an
// authority, else with a new one.
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
		klog.FromContext(ctx).Info("Wrote the authority of the store", "secret", secret.Name,
			"authority", wanted.signer().Certificate.Subject.CommonName, "trusted", len(wanted.trusted))
	}
	return wanted, err
}

// first returns what an empty Secret is filled with. In a store that an earlier version has begun,
// the shared authority vouches for the new one, so that processes of both versions trust each other.
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
	// A process of the earlier version may know only the predecessor of the shared authority.
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

// write replaces the data of a Secret. It fails with a conflict if another process has written the Secret since
// it was read.
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

// remedy is what to do about a Secret that cannot be used.
func (s source) remedy(name string) string {
	if name == sharedSecret {
		return fmt.Sprintf("if no member and no server of an earlier version runs: kubectl --namespace=%s delete secret %s", s.namespace, name)
	}
	return fmt.Sprintf("to have it filled again: "+
		"kubectl --namespace=%s patch secret %s --type=json --patch='[{\"op\":\"remove\",\"path\":\"/data\"}]'; "+
		"members that run write what they use; if none runs, the first that starts writes a new authority", s.namespace, name)
}

func usable(all []issuer.Authority, now time.Time) error {
	if len(all) == 0 {
		return errors.New("it has no authority")
	}
	switch a := all[0]; {
	case len(all) > mostTrusted:
		return fmt.Errorf("it has %d authorities, want at most %d", len(all), mostTrusted)
	case !a.Signs():
		return fmt.Errorf("it does not have the key of %s", a.Certificate.Subject.CommonName)
	case !a.Valid(now):
		return fmt.Errorf("%s has expired on %s", a.Certificate.Subject.CommonName, a.Certificate.NotAfter.UTC().Format(time.RFC3339))
	case a.Certificate.NotBefore.After(now):
		return fmt.Errorf("%s was made on %s, and the clock of this machine says %s: set the clock",
			a.Certificate.Subject.CommonName, a.Made().UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}
