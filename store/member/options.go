// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package member

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"statefulset.dev/store/backend"
)

const (
	defaultMembers    = 3
	mostMembers       = 7
	defaultHost       = "{name}.statefulset-apiserver-etcd.statefulset-system.svc"
	defaultClientPort = 2379
	defaultPeerPort   = 2380
	defaultHealthPort = 2381
)

// Options say which member of the store a process is.
type Options struct {
	// Name is the name of the member, and ends with its ordinal.
	Name string
	// Members is the number of members.
	Members int
	// Host is the address of each member, with placeholders for its name or its ordinal.
	Host string
	// Listen is the address for all listeners.
	Listen                           string
	ClientPort, PeerPort, HealthPort int
	// DataDir is on the member's own disk.
	DataDir string
	// TLSDir is the directory for its certificates.
	TLSDir string
	// Prefix is the prefix of the keys of servers, which may use no other keys.
	Prefix string
	// Namespace is where the host cluster keeps its records about the store.
	Namespace string
	// Kubeconfig is for the host cluster.
	Kubeconfig string
	// Fatal ends the process immediately when etcd cannot continue.
	Fatal func(error)
}

// NewOptions returns the defaults.
func NewOptions() *Options {
	host, _ := os.Hostname() // without it, --name is required
	return &Options{
		Name: host, Members: defaultMembers, Host: defaultHost, Listen: "0.0.0.0",
		ClientPort: defaultClientPort, PeerPort: defaultPeerPort, HealthPort: defaultHealthPort,
		DataDir: "/data/etcd", TLSDir: "/tmp/etcd-tls", Prefix: backend.Prefix, Namespace: "statefulset-system",
	}
}

// AddFlags adds all flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Name, "name", o.Name,
		"Name of this member, which ends with - and its ordinal. Defaults to the host name, which is the pod's name in a pod.")
	flags.IntVar(&o.Members, "members", o.Members, "How many members the store has, an odd number.")
	flags.StringVar(&o.Host, "member-host", o.Host, "Name or address of each member. {name} stands for its name, {ordinal} for its ordinal.")
	flags.StringVar(&o.Listen, "listen-address", o.Listen, "Address that this member listens on.")
	flags.IntVar(&o.ClientPort, "client-port", o.ClientPort, "Port for servers, the same for all members.")
	flags.IntVar(&o.PeerPort, "peer-port", o.PeerPort, "Port for other members, the same for all members.")
	flags.IntVar(&o.HealthPort, "health-port", o.HealthPort, "Port of /livez and /readyz, which are served without TLS.")
	flags.StringVar(&o.DataDir, "data-dir", o.DataDir, "Directory of this member's data.")
	flags.StringVar(&o.TLSDir, "tls-dir", o.TLSDir,
		"Directory for the certificates of this member, which it signs itself. Only its user may read it.")
	flags.StringVar(&o.Prefix, "etcd-prefix", o.Prefix, "Prefix of the keys of servers, equal to their --etcd-prefix. They may use no other keys.")
	flags.StringVar(&o.Namespace, "store-note-namespace", o.Namespace, "Namespace of the host cluster for its notes about the store.")
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig,
		"Kubeconfig of the host cluster. Defaults to the cluster in which this process runs.")
}

// Validate returns errors that name the invalid flags.
func (o *Options) Validate() error {
	var errs []error
	_, ordinal, err := split(o.Name)
	if err != nil {
		errs = append(errs, fmt.Errorf("--name: %w", err))
	} else if ordinal >= o.Members {
		errs = append(errs, fmt.Errorf("--name is %q and --members is %d: ordinals are 0 to %d", o.Name, o.Members, o.Members-1))
	}
	if o.Members < 1 || o.Members > mostMembers || o.Members%2 == 0 {
		errs = append(errs, fmt.Errorf("--members is %d, must be 1, 3, 5 or %d", o.Members, mostMembers))
	}
	if o.Members > 1 && !strings.Contains(o.Host, "{name}") && !strings.Contains(o.Host, "{ordinal}") {
		errs = append(errs, fmt.Errorf("--member-host is %q, which is the same for all members: it must contain {name} or {ordinal}", o.Host))
	}
	for flag, port := range map[string]int{"client-port": o.ClientPort, "peer-port": o.PeerPort, "health-port": o.HealthPort} {
		if len(validation.IsValidPortNum(port)) > 0 {
			errs = append(errs, fmt.Errorf("--%s is %d, must be 1 to 65535", flag, port))
		}
	}
	for flag, value := range map[string]string{"data-dir": o.DataDir, "tls-dir": o.TLSDir, "listen-address": o.Listen} {
		if value == "" {
			errs = append(errs, fmt.Errorf("--%s is empty", flag))
		}
	}
	return errors.Join(append(errs, o.validatePlaces())...)
}

// validatePlaces checks the locations of the store's data in etcd and in the host cluster.
func (o *Options) validatePlaces() error {
	var errs []error
	if !strings.HasPrefix(o.Prefix, "/") || strings.Trim(o.Prefix, "/") == "" {
		errs = append(errs, fmt.Errorf("--etcd-prefix is %q, must be a path below /, like %s", o.Prefix, backend.Prefix))
	}
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("--store-note-namespace is %q: %s", o.Namespace, problems[0]))
	}
	return errors.Join(errs...)
}

func (o *Options) all() (cluster members, self int, err error) {
	prefix, self, err := split(o.Name)
	return members{prefix: prefix, count: o.Members, host: o.Host, listen: o.Listen, client: o.ClientPort, peer: o.PeerPort}, self, err
}
