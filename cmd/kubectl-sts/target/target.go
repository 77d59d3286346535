// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Package target describes the target of a command: a cluster, and a namespace in it.
package target

import (
	"fmt"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"statefulset.dev/client/clientset/versioned"
)

// Target is the cluster and the namespace that a command works on.
type Target struct {
	// Config is the configuration of clients for the cluster.
	Config *rest.Config
	// Namespace is the namespace of the flag, or else of the kubeconfig.
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

// Sets returns a client for the sets of the cluster.
func (t Target) Sets() (versioned.Interface, error) {
	sets, err := versioned.NewForConfig(t.Config)
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	return sets, nil
}
