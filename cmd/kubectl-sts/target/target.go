// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package target says at what a command aims: a cluster, and a namespace of it.
package target

import (
	"fmt"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"statefulset.dev/client/clientset/versioned"
)

// Target is where a command looks and acts.
type Target struct {
	// Config leads to the cluster.
	Config *rest.Config
	// Namespace is the one that the user named, or that of the kubeconfig.
	Namespace string
}

// Of reads a target from the global flags and the kubeconfig.
func Of(getter genericclioptions.RESTClientGetter) (Target, error) {
	config, err := getter.ToRESTConfig()
	if err != nil {
		return Target{}, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	namespace, _, err := getter.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return Target{}, fmt.Errorf("reading the namespace: %w", err)
	}
	return Target{config, namespace}, nil
}

// Sets is a client for the sets of the cluster.
func (t Target) Sets() (versioned.Interface, error) {
	sets, err := versioned.NewForConfig(t.Config)
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	return sets, nil
}
