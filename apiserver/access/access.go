// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"fmt"

	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/authorization/path"
	"k8s.io/apiserver/pkg/authorization/union"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes"

	"statefulset.dev/apiserver/hostcluster"
)

// ApplyAuthentication makes the host cluster authenticate callers. Its client is the only one with
// a rate limit, 200 token reviews a second, because callers without credentials can cause these
// requests.
func ApplyAuthentication(opts *options.DelegatingAuthenticationOptions, generic *genericapiserver.Config) error {
	if err := opts.ApplyTo(&generic.Authentication, generic.SecureServing, generic.OpenAPIConfig); err != nil {
		return fmt.Errorf("preparing authentication: %w", err)
	}
	generic.Authentication.Authenticator = healthAnonymous{newBoundedTokens(generic.Authentication.Authenticator)}
	return nil
}

// ApplyAuthorization makes the host cluster authorize callers. It builds the authorizer itself,
// because the client of the generic options has a rate limit that all callers share in order of
// arrival: a caller that asks about many names, or under many names, would make all others wait.
// This client has no rate limit. Priority and fairness, which runs before it, limits the concurrent
// requests and shares them fairly, and the host cluster has queues too.
func ApplyAuthorization(opts *options.DelegatingAuthorizationOptions, generic *genericapiserver.Config) error {
	client, err := reviewClient(opts)
	if err != nil {
		return fmt.Errorf("preparing authorization: %w", err)
	}
	paths, err := path.NewAuthorizer(opts.AlwaysAllowPaths)
	if err != nil {
		return fmt.Errorf("preparing authorization: --authorization-always-allow-paths is %q: %w", opts.AlwaysAllowPaths, err)
	}
	delegated, err := authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: client.AuthorizationV1(),
		AllowCacheTTL:             opts.AllowCacheTTL,
		DenyCacheTTL:              opts.DenyCacheTTL,
		WebhookRetryBackoff:       options.DefaultAuthWebhookRetryBackoff(),
	}.New()
	if err != nil {
		return fmt.Errorf("preparing authorization: %w", err)
	}
	generic.Authorization.Authorizer, err = union.New(
		union.NamedAuthorizer{
			AuthorizerName: "kubernetes.io/always-allow-groups", Authorizer: authorizerfactory.NewPrivilegedGroups(opts.AlwaysAllowGroups...)},
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/always-allow-paths", Authorizer: paths},
		union.NamedAuthorizer{AuthorizerName: "kubernetes.io/webhook", Authorizer: delegated},
	)
	if err != nil {
		return fmt.Errorf("preparing authorization: %w", err)
	}
	return nil
}

// reviewClient returns a client for access reviews by the host cluster.
func reviewClient(opts *options.DelegatingAuthorizationOptions) (kubernetes.Interface, error) {
	config, err := hostcluster.ReadConfig(opts.RemoteKubeConfigFile)
	if err != nil {
		return nil, err
	}
	config.Timeout = opts.ClientTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("creating a client for the host cluster at %s: %w", config.Host, err)
	}
	return client, nil
}
