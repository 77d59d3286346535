//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/test/bench/measure"
	"statefulset.dev/test/harness/lab"
)

// side is one of those that are compared.
type side struct {
	name string
	// user is in whose name the side writes to the host.
	user string
	// sets are the resource through which it is told what to do. A bare client needs none.
	sets schema.GroupVersionResource
	// start starts its process, which ends with the turn. Nil if it has none.
	start func(t *testing.T, b *bench) *lab.Process
	// share is which part of a case's size it is given: a slow one would take forever.
	share float64
	// api is set if nobody works on the sets: there will be no pods.
	api bool
}

func builtInSets() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
}

func ourSets() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apps.statefulset.dev", Version: "v1", Resource: "statefulsets"}
}

func ours() side {
	return side{name: measure.Ours, user: "system:serviceaccount:statefulset-system:statefulset-apiserver", sets: ourSets(), share: 1,
		start: func(t *testing.T, b *bench) *lab.Process {
			p := b.Start(t, b.server)
			b.awaitServed(t, ourSets())
			return p
		},
	}
}

// awaitServed waits until the host serves a group. It looks ever more rarely at a server
// that was away, and at once when its registration changes.
func (b *bench) awaitServed(t *testing.T, sets schema.GroupVersionResource) {
	t.Helper()
	asked := time.Now()
	b.wait(t, "the host serves group "+sets.Group, func(ctx context.Context) (bool, error) {
		_, err := b.http.get(ctx, "/apis/"+sets.GroupVersion().String())
		if err == nil || time.Since(asked) < time.Second {
			return err == nil, nil
		}
		asked = time.Now()
		service := "/apis/apiregistration.k8s.io/v1/apiservices/" + sets.Version + "." + sets.Group
		note := []byte(`{"metadata":{"annotations":{"bench/asked":"` + asked.Format(time.RFC3339Nano) + `"}}}`)
		_, err = b.http.patch(ctx, service, note)
		return false, err
	})
}

// builtIn is the built-in controller without a limit of its own.
func builtIn() side {
	return builtInWith("built-in", 1, "10000", "10000", "50")
}

// builtInDefault is the built-in controller as kube-controller-manager has it by default.
func builtInDefault() side {
	return builtInWith("built-in, default flags", 0.4, "20", "30", "5")
}

func builtInWith(name string, share float64, qps, burst, workers string) side {
	return side{name: name, user: "system:serviceaccount:kube-system:statefulset-controller", sets: builtInSets(), share: share,
		start: func(t *testing.T, b *bench) *lab.Process {
			program := b.WithPort(t, b.manager, "built-in")
			program.Args = program.Args.With("controllers", "statefulset-controller").
				With("kube-api-qps", qps).With("kube-api-burst", burst).With("concurrent-statefulset-syncs", workers)
			return b.Start(t, program)
		},
	}
}

// bareClient stands for the least that has to be done.
func bareClient() side { return side{name: "bare client", user: "admin", share: 1} }

// controllers are the sides that most cases compare.
func controllers() []side { return []side{ours(), builtIn(), builtInDefault()} }
