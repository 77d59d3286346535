//go:build bench

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"statefulset.dev/test/bench/measure"
	"statefulset.dev/test/harness/lab"
)

// The lease by which our replicas agree on the one that controls.
const leaseNamespace, leaseName = "statefulset-system", "statefulset-apiserver-controller"

// oursServing is our server while another replica controls, so that what is measured is
// the API alone, as it is for the kinds to compare with.
func oursServing(name, preflight string) side {
	return side{name: name, sets: ourSets(), share: 1, api: true,
		start: func(t *testing.T, b *bench) *lab.Process {
			b.holdLease(t)
			program := b.server
			program.Args = program.Args.With("preflight", preflight)
			p := b.Start(t, program)
			b.awaitServed(t, ourSets())
			return p
		},
	}
}

// holdLease keeps the lease from our server until the turn has ended.
func (b *bench) holdLease(t *testing.T) {
	t.Helper()
	leases := b.host.CoordinationV1().Leases(leaseNamespace)
	release := func() {
		if err := leases.Delete(t.Context(), leaseName, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Fatalf("deleting the lease: %v", err)
		}
	}
	release()
	now := metav1.NewMicroTime(time.Now())
	_, err := leases.Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: leaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("bench"), LeaseDurationSeconds: new(int32(3 * 3600)), AcquireTime: &now, RenewTime: &now},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("taking the lease: %v", err)
	}
	b.afterTurn = release
}

// builtInKind is apps/v1, served by the host itself.
func builtInKind() side {
	return side{name: "built-in kind", sets: builtInSets(), share: 1, api: true}
}

// customKind is a custom resource with the schema of apps/v1.
func customKind() side {
	sets := schema.GroupVersionResource{Group: "crd.bench.statefulset.dev", Version: "v1", Resource: "statefulsets"}
	return side{name: "CRD", sets: sets, share: 1, api: true,
		start: func(t *testing.T, b *bench) *lab.Process {
			b.defineCustom(t, sets)
			return nil
		},
	}
}

func (b *bench) defineCustom(t *testing.T, sets schema.GroupVersionResource) {
	t.Helper()
	document, err := b.http.get(t.Context(), "/openapi/v3/apis/apps/v1")
	if err != nil {
		t.Fatal(err)
	}
	definition, err := measure.CustomResource(document, "io.k8s.api.apps.v1.StatefulSet", sets)
	if err != nil {
		t.Fatal(err)
	}
	b.ensure(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
	b.awaitServed(t, sets)
}

// emptyHandler is a server behind the aggregator that answers and does nothing else.
func emptyHandler() side {
	sets := schema.GroupVersionResource{Group: "empty.bench.statefulset.dev", Version: "v1", Resource: "statefulsets"}
	return side{name: "empty handler", sets: sets, share: 1, api: true,
		start: func(t *testing.T, b *bench) *lab.Process {
			port := b.emptyPort(t)
			program := lab.Program{Name: "empty-handler", Exe: executable(t), Args: lab.Args{
				"--" + emptyFlag + "=127.0.0.1:" + port, b.Path("registration", "serving.crt"), b.Path("registration", "serving.key"),
				sets.GroupVersion().String(), b.emptyAnswer(t),
			}}
			p := b.Start(t, program)
			b.register(t, sets, port)
			b.awaitServed(t, sets)
			return p
		},
	}
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// emptyAnswer is a file with a set as the built-in kind would answer with it.
func (b *bench) emptyAnswer(t *testing.T) string {
	t.Helper()
	turn := &turn{bench: b, T: t, side: builtInKind(), ns: "default"}
	turn.create(set("example", 0, withClaim))
	answer, err := b.http.get(t.Context(), turn.path("example"))
	if err != nil {
		t.Fatal(err)
	}
	turn.removeSets("default")
	path := filepath.Join(t.TempDir(), "answer.json")
	if err := os.WriteFile(path, answer, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// emptyPort is one port for all turns, so that its registration stays as it is.
func (b *bench) emptyPort(t *testing.T) string {
	if b.empty == "" {
		b.empty = lab.FreePort(t)
	}
	return b.empty
}

// register points the host at a server of the group, through the Service that our server
// has: it leads to this machine, and the certificate is in its name.
func (b *bench) register(t *testing.T, sets schema.GroupVersionResource, port string) {
	t.Helper()
	ca, err := os.ReadFile(b.Path("registration", "serving-ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	service := map[string]any{
		"kind": "APIService", "apiVersion": "apiregistration.k8s.io/v1",
		"metadata": map[string]any{"name": sets.Version + "." + sets.Group},
		"spec": map[string]any{
			"group": sets.Group, "version": sets.Version, "groupPriorityMinimum": 100, "versionPriority": 1, "caBundle": ca,
			"service": map[string]any{"namespace": "statefulset-system", "name": "statefulset-apiserver", "port": json.Number(port)},
		},
	}
	raw, err := json.Marshal(service)
	if err != nil {
		t.Fatal(err)
	}
	b.ensure(t, "/apis/apiregistration.k8s.io/v1/apiservices", raw)
}

// ensure creates something that may be there already.
func (b *bench) ensure(t *testing.T, path string, object []byte) {
	t.Helper()
	_, err := b.http.post(t.Context(), path, object)
	if err != nil && !hasCode(err, http.StatusConflict) {
		t.Fatalf("creating %s: %v", path, err)
	}
}
