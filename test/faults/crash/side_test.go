//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/test/harness/lab"
)

// side is one of the two controllers that are compared.
type side string

const (
	ours    side = "ours"
	builtIn side = "built-in"
)

// user is the name of the controller in the host's audit log.
func (s side) user() string {
	if s == ours {
		return "system:serviceaccount:statefulset-system:statefulset-apiserver"
	}
	return "system:serviceaccount:kube-system:statefulset-controller"
}

func (s side) resource() schema.GroupVersionResource {
	group := "apps"
	if s == ours {
		group = "apps.statefulset.dev"
	}
	return schema.GroupVersionResource{Group: group, Version: "v1", Resource: "statefulsets"}
}

// certificate is the path, without .crt and .key, of the controller's certificate.
func (s side) certificate(l *lab.Lab) string {
	if s == ours {
		return l.Path("registration", "client")
	}
	return l.Path("pki", "kube-controller-manager")
}

// kubeconfig is the path of the controller's kubeconfig.
func (s side) kubeconfig(l *lab.Lab) string {
	if s == ours {
		return l.Path("registration", "kubeconfig")
	}
	return l.Path("kubeconfigs", "kube-controller-manager")
}

// controller is a controller of the side that reaches the host at an address, and
// ours its store at another. The first of ours serves behind the front.
func (b *bench) controller(t *testing.T, s side, name, host, store string) lab.Program {
	t.Helper()
	config := b.Kubeconfig(t, s.kubeconfig(b.Lab), host)
	if s == ours {
		program := b.server
		if name != program.Name {
			program = b.WithPort(t, program, name)
		}
		program.Args = program.Args.With("kubeconfig", config).With("etcd-servers", store)
		return program
	}
	program := b.BuiltIn(t, name, "statefulset-controller")
	for _, flag := range []string{"kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"} {
		program.Args = program.Args.With(flag, config)
	}
	return program
}

// patience is how long a run may take. Runs of the built-in controller that never end are
// no news, and all of its tests would wait for them.
func (s side) patience() time.Duration {
	if s == builtIn {
		return patience / 2
	}
	return patience
}
