// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	basecompatibility "k8s.io/component-base/compatibility"
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
	Etcd           *options.EtcdOptions
	Traces         *options.TracingOptions

	// DataDir is where the embedded etcd keeps its data. It is used only when no
	// etcd servers are given; empty means defaultDataDir.
	DataDir string
	// HostTimeout is how long a starting server waits for the host cluster.
	HostTimeout time.Duration
	// NoteNamespace is where in the host cluster the note is that says which store
	// the cluster knows.
	NoteNamespace string
	// Preflight is what is done with a set whose pods or claims the host finds
	// invalid: "enforce", "warn" or "off".
	Preflight string
	// PreflightIdentity is the user of the host in whose name dry runs are asked for,
	// empty for this server itself.
	PreflightIdentity string

	// PlaintextEtcd lets etcd on other machines be reached without TLS.
	PlaintextEtcd bool

	// WriteRate is how many bytes a namespace may write to the store in a second, and
	// WriteBurst how many at once, as quantities.
	WriteRate, WriteBurst string

	// Fatal ends the process at once with an error, when the embedded etcd cannot go on,
	// for example because the disk is full: nothing may be answered any more. Nil
	// stands for a panic.
	Fatal func(error)

	// embedded is true once the server has started an etcd of its own.
	embedded bool
}

const (
	defaultPort          = 8443
	defaultDataDir       = "./statefulset-data"
	defaultNoteNamespace = "statefulset-system"
	minHostTimeout       = time.Second
)

// NewOptions are the defaults.
func NewOptions() (*Options, error) {
	registry := basecompatibility.NewComponentGlobalsRegistry()
	if err := registry.Register(basecompatibility.DefaultKubeComponent,
		compatibility.DefaultBuildEffectiveVersion(), utilfeature.DefaultMutableFeatureGate); err != nil {
		return nil, fmt.Errorf("registering the feature gates: %w", err)
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
		Server:            server,
		Serving:           serving.WithLoopback(),
		Authentication:    options.NewDelegatingAuthenticationOptions(),
		Authorization:     options.NewDelegatingAuthorizationOptions(),
		Audit:             options.NewAuditOptions(),
		Features:          options.NewFeatureOptions(),
		Host:              options.NewCoreAPIOptions(),
		Admission:         newAdmissionOptions(),
		Etcd:              newEtcdOptions(),
		Traces:            options.NewTracingOptions(),
		HostTimeout:       30 * time.Second,
		NoteNamespace:     defaultNoteNamespace,
		Preflight:         preflightEnforce,
		WriteRate:         defaultWriteRate,
		WriteBurst:        defaultWriteBurst,
		PreflightIdentity: defaultPreflightIdentity,
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
	errs := append(o.validateStorage(), o.validateServing()...)
	errs = append(errs, o.validateHost()...)
	errs = append(errs, o.validatePreflight()...)
	errs = append(errs, o.validateRoom()...)
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
	errs := o.Serving.Validate()
	files := o.Serving.ServerCert.CertKey
	if (files.CertFile == "") != (files.KeyFile == "") {
		errs = append(errs, fmt.Errorf("--tls-cert-file is %q and --tls-private-key-file is %q: give both, or neither for a self-signed certificate", files.CertFile, files.KeyFile))
	}
	return errs
}

func (o *Options) validateStorage() []error {
	if !o.embedsEtcd() {
		errs := append(o.Etcd.Validate(), o.validatePlaintext()...)
		if o.DataDir != "" {
			errs = append(errs, fmt.Errorf("--data-dir is %q and --etcd-servers is %q: the data directory is only for the embedded etcd; give one of the two", o.DataDir, o.Etcd.StorageConfig.Transport.ServerList))
		}
		return errs
	}
	// The generic options know no embedded etcd and would ask for a server.
	etcd := *o.Etcd
	etcd.StorageConfig.Transport.ServerList = []string{"embedded"}
	errs := etcd.Validate()
	transport := etcd.StorageConfig.Transport
	if transport.KeyFile != "" || transport.CertFile != "" || transport.TrustedCAFile != "" {
		errs = append(errs, errors.New("--etcd-keyfile, --etcd-certfile and --etcd-cafile are only for an external etcd: give --etcd-servers too"))
	}
	if o.PlaintextEtcd {
		errs = append(errs, fmt.Errorf("--%s is only for an external etcd: give --etcd-servers too", plaintextEtcdFlag))
	}
	return errs
}

// embedsEtcd says whether the server brings its own storage.
func (o *Options) embedsEtcd() bool { return len(o.Etcd.StorageConfig.Transport.ServerList) == 0 }

// Dir is the directory of the embedded etcd.
func (o *Options) dataDir() string { return cmp.Or(o.DataDir, defaultDataDir) }

// Flags are all options, in sections for a help text.
func (o *Options) Flags() cliflag.NamedFlagSets {
	var sections cliflag.NamedFlagSets
	hostFlags := sections.FlagSet("host cluster")
	hostFlags.StringVar(&o.Host.CoreAPIKubeconfigPath, "kubeconfig", o.Host.CoreAPIKubeconfigPath,
		"Kubeconfig of the cluster in which the members run, and which authenticates and authorizes requests. Without it, the cluster that this process runs in.")
	hostFlags.DurationVar(&o.HostTimeout, "host-timeout", o.HostTimeout,
		"How long to wait at start for the host cluster to answer, before giving up.")
	hostFlags.StringVar(&o.Preflight, "preflight", o.Preflight,
		"What to do with a set whose pod template or claim templates the host cluster finds invalid in a dry run: enforce refuses it, warn accepts it with a warning, off does not ask the host.")
	hostFlags.StringVar(&o.PreflightIdentity, "preflight-identity", o.PreflightIdentity,
		"User of the host cluster in whose name these dry runs are asked for, which this server must be allowed to impersonate. The manifests have an account that may create in dry runs only. If empty, the server asks in its own name.")

	hostFlags.StringVar(&o.NoteNamespace, "store-note-namespace", o.NoteNamespace,
		"Namespace of the host cluster that holds the ConfigMap "+noteName+", the note of which store the cluster knows.")

	storage := sections.FlagSet("storage")
	storage.StringVar(&o.DataDir, "data-dir", o.DataDir,
		"Directory of the embedded etcd, which is used when --etcd-servers is not given. By default "+defaultDataDir+".")
	storage.BoolVar(&o.PlaintextEtcd, plaintextEtcdFlag, o.PlaintextEtcd,
		"Let --etcd-servers name servers on other machines that are reached without TLS. Whoever can listen or speak on that network can then read and change every set.")
	addFlagsExcept(storage, o.Etcd.AddFlags, unservedEtcdFlags()...)

	o.addRoomFlags(sections.FlagSet("limits of the store"))
	o.Serving.AddFlags(sections.FlagSet("serving"))
	o.Authentication.AddFlags(sections.FlagSet("authentication"))
	o.Authorization.AddFlags(sections.FlagSet("authorization"))
	o.Admission.AddFlags(sections.FlagSet("admission"))
	o.Audit.AddFlags(sections.FlagSet("audit"))
	addFlagsExcept(sections.FlagSet("features"), o.Features.AddFlags, unservedFeatureFlags()...)
	o.Traces.AddFlags(sections.FlagSet("traces"))
	addFlagsExcept(sections.FlagSet("generic"), o.Server.AddUniversalFlags, unservedServerFlags()...)
	return sections
}
