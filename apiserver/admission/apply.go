// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/tracing"

	"statefulset.dev/apiserver/hostcluster"
	"statefulset.dev/identity"
)

// Apply makes the server follow the namespaces, policies, webhooks, quotas and flow schemas of the
// host cluster. own is the namespace of this server in the host cluster, and objects are the
// namespaces in which the controller creates supporting objects.
func Apply(opts *options.AdmissionOptions, features *options.FeatureOptions, generic *genericapiserver.RecommendedConfig,
	host *hostcluster.Host,
	policies *Policies, own string, objects identity.ObjectNamespaces,
) error {
	generic.ClientConfig = rest.CopyConfig(host.Config)
	generic.ClientConfig.Wrap(tracing.WrapperFor(generic.TracerProvider))
	generic.SharedInformerFactory = informers.NewSharedInformerFactory(host.Watching, hostcluster.NoResync)
	dynamicClient, err := dynamic.NewForConfig(generic.ClientConfig)
	if err != nil {
		return fmt.Errorf("creating a client for the host cluster at %s: %w", host.Config.Host, err)
	}
	if err := features.ApplyTo(&generic.Config, host.Client, generic.SharedInformerFactory); err != nil {
		return fmt.Errorf("preparing priority and fairness: %w", err)
	}
	if err := opts.ApplyTo(&generic.Config, generic.SharedInformerFactory, host.Client, dynamicClient,
		utilfeature.DefaultFeatureGate, generic.EffectiveVersion, quotaInitializer{}, policies,
		objectInitializer{host, own, objects}); err != nil {
		return fmt.Errorf("preparing admission: %w", err)
	}
	return policies.addTo(&generic.Config)
}
