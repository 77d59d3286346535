// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package storetls

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/cert"

	"statefulset.dev/apiserver/issuer"
)

// settle is how long an authority signs before its predecessor goes: every process that reaches the
// host has another certificate long before.
const settle = 10 * time.Minute

// Rotate has another authority sign from now on, and returns its name. Every process takes a
// certificate of that within minutes, and shows with it that the predecessor vouches for it: so it is
// trusted also by processes that have read whom to trust before. Nobody needs to be restarted for it,
// until the predecessor goes.
func Rotate(ctx context.Context, secrets typedcorev1.SecretInterface, namespace string, now time.Time) (name string, err error) {
	return change(ctx, secrets, namespace, now, func(t trust) (trust, error) {
		if len(t.trusted) > 1 {
			return trust{}, fmt.Errorf("%s signs since %s, and its predecessor is not gone yet: restart all members and servers, then run this with --finish",
				t.signer().Certificate.Subject.CommonName, t.signer().Made().UTC().Format(time.RFC3339))
		}
		made, err := issuer.New(authorityName, now, authorityLifetime)
		if err != nil {
			return trust{}, err
		}
		vouched, err := t.signer().Vouch(made)
		if err != nil {
			return trust{}, err
		}
		chain, err := cert.EncodeCertificates(vouched)
		if err != nil {
			return trust{}, fmt.Errorf("encoding the authority of the store: %w", err)
		}
		// The predecessor signs nothing any more, so its key goes.
		return trust{[]issuer.Authority{made, {Certificate: t.signer().Certificate}}, chain}, nil
	})
}

// Finish lets nobody trust the predecessor any more who starts from now on.
func Finish(ctx context.Context, secrets typedcorev1.SecretInterface, namespace string, now time.Time) (name string, err error) {
	return change(ctx, secrets, namespace, now, func(t trust) (trust, error) {
		if len(t.trusted) == 1 {
			return trust{}, fmt.Errorf("there is one authority, %s: nothing takes its place yet", t.signer().Certificate.Subject.CommonName)
		}
		if from := t.signer().Made().Add(settle); now.Before(from) {
			return trust{}, fmt.Errorf("%s signs since %s only, and some processes may have a certificate of its predecessor yet: run this after %s",
				t.signer().Certificate.Subject.CommonName, t.signer().Made().UTC().Format(time.RFC3339), from.UTC().Format(time.RFC3339))
		}
		return trust{t.trusted[:1], t.chain}, nil
	})
}

// change writes what follows from what there is, unless somebody else was faster.
func change(ctx context.Context, secrets typedcorev1.SecretInterface, namespace string, now time.Time, next func(trust) (trust, error)) (name string, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	secret, err := secrets.Get(ctx, SecretName, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("reading Secret %s/%s: %w", namespace, SecretName, err)
	}
	held, err := parse(secret, namespace, now)
	if err != nil {
		return "", err
	}
	wanted, err := next(held)
	if err != nil {
		return "", err
	}
	if secret.Data, err = issuer.ToSecret(wanted.trusted); err != nil {
		return "", err
	}
	secret.Data[chainKey] = wanted.chain
	if _, err := secrets.Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		return "", fmt.Errorf("writing Secret %s/%s: %w", namespace, SecretName, err)
	}
	return wanted.signer().Certificate.Subject.CommonName, nil
}
