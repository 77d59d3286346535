// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"

	"statefulset.dev/apiserver/admission"
	"statefulset.dev/apiserver/autotls"
	"statefulset.dev/identity"
	"statefulset.dev/registry/statefulset/preflight"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/guard"
	"statefulset.dev/store/space"
	"statefulset.dev/version"
)

// Options is what a user can choose. Groups of the generic server that we do not
// serve are absent, so that every flag does something.
type Options struct {
	Server         *options.ServerRunOptions
	Serving        *options.SecureServingOptionsWithLoopback
	Authentication *options.DelegatingAuthenticationOptions
	Authorization  *options.DelegatingAuthorizationOptions
	Audit          *options.AuditOptions
	Features       *options.FeatureOptions
	Host           *options.CoreAPIOptions
	Admission      *options.AdmissionOptions
	Storage        *backend.Options
	Traces         *options.TracingOptions
	// AutoTLS says whether the server makes its certificate itself.
	AutoTLS *autotls.Options

	// HostTimeout is how long a starting server waits for the host cluster.
	HostTimeout time.Duration
	// AnchorNamespace is where in the host cluster the anchor is that says which store
	// the cluster knows.
	AnchorNamespace string
	// ObjectNamespaces are those in which supporting objects of sets are created, watched and deleted.
	ObjectNamespaces identity.ObjectNamespaces
	// Preflight says how sets are tried on the host before they are stored.
	Preflight *preflight.Options

	// Space bounds what is written to the store.
	Space *space.Options
}

const (
	objectNamespacesFlag   = "object-namespaces"
	defaultPort            = 8443
	defaultAnchorNamespace = "statefulset-system"
	minHostTimeout         = time.Second
)

// NewOptions are the defaults.
func NewOptions() (*Options, error) {
	registry := basecompatibility.NewComponentGlobalsRegistry()
	if err := registry.Register(basecompatibility.DefaultKubeComponent,
		compatibility.DefaultBuildEffectiveVersion(), utilfeature.DefaultMutableFeatureGate); err != nil {
		return nil, fmt.Errorf("registering the feature gates: %w", err)
	}
	effective := basecompatibility.NewEffectiveVersionFromString(version.Minor, version.OldestMinor, "")
	if err := registry.Register(version.Component, effective, nil); err != nil {
		return nil, fmt.Errorf("registering our version: %w", err)
	}
	serving := options.NewSecureServingOptions()
	serving.Required = true
	serving.BindPort = defaultPort
	serving.ServerCert.CertDirectory = "" // without certificate files, one is made in memory
	serving.ServerCert.PairName = ""
	serving.HTTP2MaxStreamsPerConnection = 1000 // the host sends all its users through a few connections

	server := options.NewServerRunOptionsForComponent(basecompatibility.DefaultKubeComponent, registry)
	// Clients repeat a request by themselves that is refused with 429, and not one that
	// finds the port closed.
	server.ShutdownSendRetryAfter = true
	// Without it, open watches keep a server that shuts down for a whole minute.
	server.ShutdownWatchTerminationGracePeriod = 2 * time.Second

	return &Options{
		Server:          server,
		Serving:         serving.WithLoopback(),
		Authentication:  options.NewDelegatingAuthenticationOptions(),
		Authorization:   options.NewDelegatingAuthorizationOptions(),
		Audit:           options.NewAuditOptions(),
		Features:        options.NewFeatureOptions(),
		Host:            options.NewCoreAPIOptions(),
		Admission:       admission.NewOptions(),
		Storage:         backend.NewOptions(),
		Traces:          options.NewTracingOptions(),
		AutoTLS:         autotls.NewOptions(),
		HostTimeout:     30 * time.Second,
		AnchorNamespace: defaultAnchorNamespace,
		Preflight:       preflight.NewOptions(),
		Space:           space.NewOptions(),
	}, nil
}

// Complete fills in what follows from other options: one kubeconfig serves all
// purposes for which no other was given.
func (o *Options) Complete() error {
	if o.Authentication.RemoteKubeConfigFile == "" {
		o.Authentication.RemoteKubeConfigFile = o.Host.CoreAPIKubeconfigPath
	}
	if o.Authorization.RemoteKubeConfigFile == "" {
		o.Authorization.RemoteKubeConfigFile = o.Host.CoreAPIKubeconfigPath
	}
	if err := o.Server.ComponentGlobalsRegistry.Set(); err != nil {
		return fmt.Errorf("applying the feature gates: %w", err)
	}
	return nil
}

// Validate says what is wrong with the values, naming the flags.
func (o *Options) Validate() error {
	errs := append(o.Storage.Validate(), o.validateServing()...)
	errs = append(errs, o.validateHost()...)
	errs = append(errs, o.ObjectNamespaces.Validate(o.AnchorNamespace)...)
	errs = append(errs, o.Preflight.Validate()...)
	errs = append(errs, o.Space.Validate()...)
	errs = append(errs, o.Server.Validate()...)
	errs = append(errs, o.Authentication.Validate()...)
	errs = append(errs, o.Authorization.Validate()...)
	errs = append(errs, o.Audit.Validate()...)
	errs = append(errs, o.Features.Validate()...)
	errs = append(errs, o.Host.Validate()...)
	errs = append(errs, o.Admission.Validate()...)
	errs = append(errs, o.Traces.Validate()...)
	return errors.Join(errs...)
}

func (o *Options) validateHost() []error {
	var errs []error
	if o.HostTimeout < minHostTimeout {
		errs = append(errs, fmt.Errorf("--host-timeout is %s, must be at least %s", o.HostTimeout, minHostTimeout))
	}
	if problems := validation.IsDNS1123Label(o.AnchorNamespace); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--store-note-namespace is %q: %s", o.AnchorNamespace, problems[0]))
	}
	return errs
}

func (o *Options) validateServing() []error {
	errs := append(o.Serving.Validate(), o.AutoTLS.Validate()...)
	files := o.Serving.ServerCert.CertKey
	if o.AutoTLS.Enabled && (files.CertFile != "" || files.KeyFile != "") {
		errs = append(errs,
			fmt.Errorf("--tls-auto makes a certificate, and --tls-cert-file %q and --tls-private-key-file %q name one: give either", files.CertFile,
				files.KeyFile))
	}
	if (files.CertFile == "") != (files.KeyFile == "") {
		errs = append(errs,
			fmt.Errorf("--tls-cert-file is %q and --tls-private-key-file is %q: give both, or neither for a self-signed certificate", files.CertFile,
				files.KeyFile))
	}
	return errs
}

// Flags are all options, in sections for a help text.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sections cliflag.NamedFlagSets
	hostFlags := sections.FlagSet("host cluster")
	hostFlags.StringVar(&o.Host.CoreAPIKubeconfigPath, "kubeconfig", o.Host.CoreAPIKubeconfigPath,
		"Kubeconfig of the cluster in which the members run, and which authenticates and authorizes requests. Without it, the cluster that this process runs in.")
	hostFlags.DurationVar(&o.HostTimeout, "host-timeout", o.HostTimeout,
		"How long to wait at start for the host cluster to answer, before giving up.")
	o.Preflight.AddFlags(hostFlags)
	hostFlags.StringSliceVar((*[]string)(&o.ObjectNamespaces), objectNamespacesFlag, nil, fmt.Sprintf(
		"Namespaces of the host cluster in which sets may have supporting objects (spec.objectTemplates), separated by commas, at most %d. "+
			"The controller creates, watches and deletes such objects in no other namespace, and needs its rights to them only there. Without it, in all namespaces.",
		identity.MostObjectNamespaces))
	hostFlags.StringVar(&o.AnchorNamespace, "store-note-namespace", o.AnchorNamespace,
		"Namespace of the host cluster that holds the ConfigMap "+guard.AnchorName+", the note of which store the cluster knows.")

	o.Storage.AddFlags(sections.FlagSet("storage"))
	o.Space.AddFlags(sections.FlagSet("limits of the store"))
	o.Serving.AddFlags(sections.FlagSet("serving"))
	o.AutoTLS.AddFlags(sections.FlagSet("serving"))
	o.Authentication.AddFlags(sections.FlagSet("authentication"))
	o.Authorization.AddFlags(sections.FlagSet("authorization"))
	o.Admission.AddFlags(sections.FlagSet("admission"))
	o.Audit.AddFlags(sections.FlagSet("audit"))
	addFlagsExcept(sections.FlagSet("features"), o.Features.AddFlags, unservedFeatureFlags()...)
	o.Traces.AddFlags(sections.FlagSet("traces"))
	addFlagsExcept(sections.FlagSet("generic"), o.Server.AddUniversalFlags, unservedServerFlags()...)
	return sections
}
