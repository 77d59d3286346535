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

// Prefix is the root of our keys, apart from those of a Kubernetes cluster that
// may share the etcd.
const Prefix = "/registry/statefulset.dev"

const defaultDataDir = "./statefulset-data"

// Options say where sets are stored: in an etcd cluster, or in an etcd inside the
// process.
type Options struct {
	Etcd *options.EtcdOptions

	// DataDir is where the embedded etcd keeps its data. It is used only when no
	// etcd servers are given; empty means defaultDataDir.
	DataDir string

	// PlaintextEtcd lets etcd on other machines be reached without TLS.
	PlaintextEtcd bool

	// TLSDir is where the certificate is written with which the server reaches the members of
	// its store. Empty if it is given one, or needs none.
	TLSDir string

	// Fatal ends the process at once with an error, when the embedded etcd cannot go on,
	// for example because the disk is full: nothing may be answered any more. Nil
	// stands for a panic.
	Fatal func(error)

	// embedded is true once the server has started an etcd of its own.
	embedded bool
}

// NewOptions are the defaults: an etcd inside the process.
func NewOptions() *Options { return &Options{Etcd: newEtcdOptions()} }

// newEtcdOptions stores protobuf: it is about a third smaller than JSON, and
// cheaper to read.
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
		"Let --etcd-servers name servers on other machines that are reached without TLS. Whoever can listen or speak on that network can then read and change every set.")
	flags.StringVar(&o.TLSDir, tlsDirFlag, o.TLSDir,
		"Directory for the certificate for --etcd-servers, if these were started with 'statefulset-apiserver store member', which sign it. Only the user of this server may read it. Not together with --etcd-certfile, --etcd-keyfile and --etcd-cafile.")
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Etcd.AddFlags(all)
	all.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(unservedEtcdFlags(), f.Name) {
			flags.AddFlag(f)
		}
	})
}

// Validate says what is wrong with the values, naming the flags.
func (o *Options) Validate() []error {
	if !o.Embeds() {
		errs := append(o.Etcd.Validate(), o.validatePlaintext()...)
		errs = append(errs, o.validateTLSDir()...)
		if o.DataDir != "" {
			errs = append(errs,
				fmt.Errorf("--data-dir is %q and --etcd-servers is %q: the data directory is only for the embedded etcd; give one of the two",
					o.DataDir, o.Etcd.StorageConfig.Transport.ServerList))
		}
		return errs
	}
	// The generic options know no embedded etcd and would ask for a server.
	etcd := *o.Etcd
	etcd.StorageConfig.Transport.ServerList = []string{"embedded"}
	errs := etcd.Validate()
	transport := etcd.StorageConfig.Transport
	if transport.KeyFile != "" || transport.CertFile != "" || transport.TrustedCAFile != "" {
		errs = append(errs,
			errors.New("--etcd-keyfile, --etcd-certfile and --etcd-cafile are only for an external etcd: give --etcd-servers too"))
	}
	if o.TLSDir != "" {
		errs = append(errs, fmt.Errorf("--%s is only for an external etcd: give --etcd-servers too", tlsDirFlag))
	}
	if o.PlaintextEtcd {
		errs = append(errs, fmt.Errorf("--%s is only for an external etcd: give --etcd-servers too", plaintextEtcdFlag))
	}
	return errs
}

// Embeds says whether the server brings its own storage.
func (o *Options) Embeds() bool {
	return len(o.Etcd.StorageConfig.Transport.ServerList) == 0
}

// Dir is the directory of the embedded etcd.
func (o *Options) Dir() string { return cmp.Or(o.DataDir, defaultDataDir) }

// Embedded says whether an etcd inside this process was started.
func (o *Options) Embedded() bool { return o.embedded }

// unservedEtcdFlags are flags of the generic etcd options that would be accepted
// and have no effect: we store one resource in one place, without leases.
func unservedEtcdFlags() []string {
	return []string{
		"etcd-servers-overrides",
		"storage-backend",
		"default-watch-cache-size",
		"watch-cache-sizes",
		"lease-reuse-duration-seconds",
	}
}
