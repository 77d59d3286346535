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

// Options are the options of the server. They omit groups of the generic server that this server
// does not use, so that every flag has an effect.
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
	// AutoTLS configures the certificate that the server issues itself.
	AutoTLS *autotls.Options

	// HostTimeout is how long a starting server waits for the host cluster.
	HostTimeout time.Duration
	// NoteNamespace is the namespace of the note, the object in the host cluster that records which
	// store the cluster knows.
	NoteNamespace string
	// ObjectNamespaces are the namespaces in which supporting objects of sets are created, watched
	// and deleted.
	ObjectNamespaces identity.ObjectNamespaces
	// Preflight configures how sets are tried in the host cluster before they are stored.
	Preflight *preflight.Options

	// Space limits what is written to the store.
	Space *space.Options
}

const (
	objectNamespacesFlag = "object-namespaces"
	defaultPort          = 8443
	defaultNoteNamespace = "statefulset-system"
	minHostTimeout       = time.Second
)

// NewOptions returns the defaults.
func NewOptions() (*Options, error) {
	registry := basecompatibility.NewComponentGlobalsRegistry()
	if err := registry.Register(basecompatibility.DefaultKubeComponent,
		compatibility.DefaultBuildEffectiveVersion(), utilfeature.DefaultMutableFeatureGate); err != nil {
		return nil, fmt.Errorf("registering the feature gates: %w", err)
	}
	effective := basecompatibility.NewEffectiveVersionFromString(version.Minor, version.OldestMinor, "")
	if err := registry.Register(version.Component, effective, nil); err != nil {
		return nil, fmt.Errorf("registering the version: %w", err)
	}
	serving := options.NewSecureServingOptions()
	serving.Required = true
	serving.BindPort = defaultPort
	serving.ServerCert.CertDirectory = "" // without certificate files, one is created in memory
	serving.ServerCert.PairName = ""
	serving.HTTP2MaxStreamsPerConnection = 1000 // the host cluster sends the requests of all users through a few connections

	server := options.NewServerRunOptionsForComponent(basecompatibility.DefaultKubeComponent, registry)
	// Clients retry a request that is refused with 429, but not a request that finds the port
	// closed.
	server.ShutdownSendRetryAfter = true
	// Without this period, open watches delay a server that shuts down by a whole minute.
	server.ShutdownWatchTerminationGracePeriod = 2 * time.Second

	return &Options{
		Server:         server,
		Serving:        serving.WithLoopback(),
		Authentication: options.NewDelegatingAuthenticationOptions(),
		Authorization:  options.NewDelegatingAuthorizationOptions(),
		Audit:          options.NewAuditOptions(),
		Features:       options.NewFeatureOptions(),
		Host:           options.NewCoreAPIOptions(),
		Admission:      admission.NewOptions(),
		Storage:        backend.NewOptions(),
		Traces:         options.NewTracingOptions(),
		AutoTLS:        autotls.NewOptions(),
		HostTimeout:    30 * time.Second,
		NoteNamespace:  defaultNoteNamespace,
		Preflight:      preflight.NewOptions(),
		Space:          space.NewOptions(),
	}, nil
}

// Complete sets options that depend on others: one kubeconfig is used wherever no other one is set.
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

// Validate returns what is wrong with the values, naming the flags.
func (o *Options) Validate() error {
	errs := append(o.Storage.Validate(), o.validateServing()...)
	errs = append(errs, o.validateHost()...)
	errs = append(errs, o.ObjectNamespaces.Validate(o.NoteNamespace)...)
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
	if problems := validation.IsDNS1123Label(o.NoteNamespace); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--store-note-namespace is %q: %s", o.NoteNamespace, problems[0]))
	}
	return errs
}

func (o *Options) validateServing() []error {
	errs := append(o.Serving.Validate(), o.AutoTLS.Validate()...)
	files := o.Serving.ServerCert.CertKey
	if o.AutoTLS.Enabled && (files.CertFile != "" || files.KeyFile != "") {
		errs = append(errs,
			fmt.Errorf("--tls-auto issues a certificate, but --tls-cert-file %q and --tls-private-key-file %q name one: use one or the other", files.CertFile,
				files.KeyFile))
	}
	if (files.CertFile == "") != (files.KeyFile == "") {
		errs = append(errs,
			fmt.Errorf("--tls-cert-file is %q and --tls-private-key-file is %q: set both, or neither for a self-signed certificate", files.CertFile,
				files.KeyFile))
	}
	return errs
}

// Flags returns all options as flags, in sections for a help text.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sections cliflag.NamedFlagSets
	hostFlags := sections.FlagSet("host cluster")
	hostFlags.StringVar(&o.Host.CoreAPIKubeconfigPath, "kubeconfig", o.Host.CoreAPIKubeconfigPath,
		"Kubeconfig of the host cluster, in which the pods of sets run and which authenticates and authorizes requests. Default: the cluster in which this process runs.")
	hostFlags.DurationVar(&o.HostTimeout, "host-timeout", o.HostTimeout,
		"How long the server waits at startup for the host cluster to answer before it exits.")
	o.Preflight.AddFlags(hostFlags)
	hostFlags.StringSliceVar((*[]string)(&o.ObjectNamespaces), objectNamespacesFlag, nil, fmt.Sprintf(
		"Namespaces of the host cluster in which sets may have supporting objects (spec.objectTemplates), separated by commas, at most %d. "+
			"The controller creates, watches and deletes such objects in no other namespace, and needs the rights for them only there. Default: all namespaces.",
		identity.MostObjectNamespaces))
	hostFlags.StringVar(&o.NoteNamespace, "store-note-namespace", o.NoteNamespace,
		"Namespace of the host cluster that holds the ConfigMap "+guard.NoteName+", which records the store that the cluster knows.")

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
