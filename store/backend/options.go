// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

// Prefix is the root of our keys. It separates them from those of a Kubernetes cluster that may use
// the same etcd.
const Prefix = "/registry/statefulset.dev"

const defaultDataDir = "./statefulset-data"

// Options say where sets are stored: in an etcd cluster, or in an etcd inside the
// process.
type Options struct {
	Etcd *options.EtcdOptions

	// DataDir is where the embedded etcd keeps its data. It is used only if no etcd servers are
	// set; empty means defaultDataDir.
	DataDir string

	// PlaintextEtcd allows connections to etcd on other machines without TLS.
	PlaintextEtcd bool

	// TLSDir is the directory for the certificate with which the server connects to the members of
	// its store. It is empty if the flags name a certificate, or if none is needed.
	TLSDir string

	// Fatal ends the process immediately with an error, if the embedded etcd cannot continue, for
	// example because the disk is full: no more requests may be answered. Nil stands for a panic.
	Fatal func(error)

	// embedded is true once the server has started its own etcd.
	embedded bool
}

// NewOptions returns the defaults: an etcd inside the process.
func NewOptions() *Options { return &Options{Etcd: newEtcdOptions()} }

// newEtcdOptions stores protobuf, which is about a third smaller than JSON, and cheaper to read.
func newEtcdOptions() *options.EtcdOptions {
	etcd := options.NewEtcdOptions(storagebackend.NewDefaultConfig(Prefix, nil))
	etcd.DefaultStorageMediaType = runtime.ContentTypeProtobuf
	return etcd
}

// AddFlags adds all flags, without those of the generic options that have no effect.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.DataDir, "data-dir", o.DataDir,
		"Directory of the embedded etcd, which is used when --etcd-servers is not given. By default "+defaultDataDir+".")
	flags.BoolVar(&o.PlaintextEtcd, plaintextEtcdFlag, o.PlaintextEtcd,
		"Allow --etcd-servers on other machines without TLS. Everyone with access to that network can then read and change every set.")
	flags.StringVar(&o.TLSDir, tlsDirFlag, o.TLSDir,
		"Directory for the client certificate for --etcd-servers, if these are members started with 'statefulset-apiserver store member', which sign the certificate. Only the user of this server may read it. Not together with --etcd-certfile, --etcd-keyfile and --etcd-cafile.")
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Etcd.AddFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(unservedEtcdFlags(), f.Name) {
			flags.AddFlag(f)
		}
	})
}

// Validate returns errors that name the invalid flags.
func (o *Options) Validate() []error {
	if !o.Embeds() {
		errs := append(o.Etcd.Validate(), o.validatePlaintext()...)
		errs = append(errs, o.validateTLSDir()...)
		if o.DataDir != "" {
			errs = append(errs,
				fmt.Errorf("--data-dir is %q and --etcd-servers is %q: the data directory is only for the embedded etcd; set only one of them",
					o.DataDir, o.Etcd.StorageConfig.Transport.ServerList))
		}
		return errs
	}
	// The generic options do not support an embedded etcd and would require a server.
	etcd := *o.Etcd
	etcd.StorageConfig.Transport.ServerList = []string{"embedded"}
	errs := etcd.Validate()
	transport := etcd.StorageConfig.Transport
	if transport.KeyFile != "" || transport.CertFile != "" || transport.TrustedCAFile != "" {
		errs = append(errs,
			errors.New("--etcd-keyfile, --etcd-certfile and --etcd-cafile are only for an external etcd: set --etcd-servers too"))
	}
	if o.TLSDir != "" {
		errs = append(errs, fmt.Errorf("--%s is only for an external etcd: set --etcd-servers too", tlsDirFlag))
	}
	if o.PlaintextEtcd {
		errs = append(errs, fmt.Errorf("--%s is only for an external etcd: set --etcd-servers too", plaintextEtcdFlag))
	}
	return errs
}

// Embeds reports whether the server runs its own etcd.
func (o *Options) Embeds() bool {
	return len(o.Etcd.StorageConfig.Transport.ServerList) == 0
}

// Dir is the directory of the embedded etcd.
func (o *Options) Dir() string { return cmp.Or(o.DataDir, defaultDataDir) }

// Embedded reports whether an etcd was started inside this process.
func (o *Options) Embedded() bool { return o.embedded }

// unservedEtcdFlags are flags of the generic etcd options that would be accepted but have no
// effect: the server stores one resource in one place, without leases.
func unservedEtcdFlags() []string {
	return []string{
		"etcd-servers-overrides",
		"storage-backend",
		"default-watch-cache-size",
		"watch-cache-sizes",
		"lease-reuse-duration-seconds",
	}
}
