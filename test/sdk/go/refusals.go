// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"statefulset.dev/client"
)

func refusals() []scenario {
	return []scenario{{"403", forbidden}, {"404", notFound}, {"409", stale}, {"429", throttled}, {"bad input", bad}}
}

func forbidden(p play) error {
	_, err := p.others.List(p, metav1.ListOptions{})
	return want("forbidden", apierrors.IsForbidden(err), true)
}

func notFound(p play) error {
	_, err := p.sets.Get(p, "nobody", metav1.GetOptions{})
	return want("not found", apierrors.IsNotFound(err), true)
}

func stale(p play) error {
	if err := p.create("stale"); err != nil {
		return err
	}
	if err := want("exists already", apierrors.IsAlreadyExists(p.create("stale")), true); err != nil {
		return err
	}
	set, err := p.sets.Get(p, "stale", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if _, err := client.Patch(p, p.sets, "stale", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`),
		metav1.PatchOptions{}); err != nil {
		return err
	}
	_, err = p.sets.Update(p, set, metav1.UpdateOptions{})
	return want("conflict", apierrors.IsConflict(err), true)
}

// throttled is refused twice with a request to retry after a second. The Kubernetes client does
// that by itself.
func throttled(p play) error {
	begun := time.Now()
	if err := p.create("throttled"); err != nil {
		return err
	}
	if _, err := p.sets.Get(p, "throttled", metav1.GetOptions{}); err != nil {
		return err
	}
	return want("waited", time.Since(begun) >= 2*time.Second, true)
}

// wrong lists sets with a wrong server address or with invalid credentials.
func wrong(p play, variable string) error {
	clients, namespace, err := client.Connect(os.Getenv(variable))
	if err != nil {
		return err
	}
	_, err = clients.AppsV1().StatefulSets(namespace).List(p, metav1.ListOptions{})
	return err
}

// bad checks requests that must be refused before they are sent, or with the reason.
func bad(p play) error {
	if err := wrong(p, "WRONG_TOKEN"); !apierrors.IsUnauthorized(err) {
		return fmt.Errorf("with a wrong token: got error %w, want Unauthorized", err)
	}
	config := func(change func(*rest.Config)) error {
		c := &rest.Config{Host: "https://127.0.0.1:1", BearerToken: "token"}
		change(c)
		_, err := client.New(c)
		return err
	}
	_, patched := client.Patch(p, p.sets, "a", "application/toml", nil, metav1.PatchOptions{})
	_, applied := client.Patch(p, p.sets, "a", "application/apply-patch+yaml", nil, metav1.PatchOptions{})
	for word, err := range map[string]error{
		"host":                  config(func(c *rest.Config) { c.Host = "ftp://example.org" }),
		"token":                 config(func(c *rest.Config) { c.BearerToken = "two words" }),
		"certificate authority": config(func(c *rest.Config) { c.CAData = []byte("none") }),
		"client certificate":    config(func(c *rest.Config) { c.CertData = []byte("none") }),
		"patch kind":            patched,
		"field manager":         applied,
		"connection refused":    wrong(p, "WRONG_HOST"),
		"certificate":           wrong(p, "WRONG_AUTHORITY"),
	} {
		if err == nil || !strings.Contains(err.Error(), word) {
			return fmt.Errorf("got error %w, want an error about the %s", err, word)
		}
	}
	return nil
}
