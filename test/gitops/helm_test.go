//go:build gitops

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// release is what Helm does with the manifests of a chart, without the chart.
type release struct {
	client    *kube.Client
	installed kube.ResourceList
}

func install(t *testing.T, set *unstructured.Unstructured, serverSide bool) *release {
	t.Helper()
	kubeconfig, namespace := suite.Kubeconfig(), set.GetNamespace()
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig, flags.Namespace = &kubeconfig, &namespace
	r := &release{client: kube.New(flags)}
	r.installed = r.resources(t, set)
	if _, err := r.client.Create(r.installed, kube.ClientCreateOptionServerSideApply(serverSide, false)); err != nil {
		t.Fatalf("installing: %v", err)
	}
	return r
}

func (r *release) resources(t *testing.T, set *unstructured.Unstructured) kube.ResourceList {
	t.Helper()
	list, err := r.client.Build(strings.NewReader(asYAML(t, set)), false)
	if err != nil {
		t.Fatalf("reading the manifests: %v", err)
	}
	return list
}

// upgrade is Helm's upgrade to other manifests.
func (r *release) upgrade(t *testing.T, set *unstructured.Unstructured, serverSide, force bool, also ...kube.ClientUpdateOption) error {
	t.Helper()
	options := slices.Concat(also, []kube.ClientUpdateOption{
		kube.ClientUpdateOptionServerSideApply(serverSide, force), kube.ClientUpdateOptionThreeWayMergeForUnstructured(false),
	})
	_, err := r.client.Update(r.installed, r.resources(t, set), options...)
	return err
}

// TestHelmsClientSideUpgradeReplacesLists is Helm 3, and Helm 4 with --server-side=false: of kinds that are not compiled
// into it, Helm compares the two charts only, and replaces a list as a whole.
func TestHelmsClientSideUpgradeReplacesLists(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		r := install(t, s.set(t, namespace, first), false)
		s.patch(t, namespace, sidecar)
		if err := r.upgrade(t, s.set(t, namespace, second), false, false); err != nil {
			t.Fatalf("upgrading: %v", err)
		}
		if got, want := containers(t, s.live(t, namespace)), choose(s, withSidecar, withoutIt); got != want {
			t.Errorf("containers after another client added one: got %s, want %s", got, want)
		}
	})
}

// TestHelmsClientSideUpgradeLeavesWhatTheChartLeaves changes a field that both charts set alike.
func TestHelmsClientSideUpgradeLeavesWhatTheChartLeaves(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		r := install(t, s.set(t, namespace, first), false)
		s.patch(t, namespace, slower)
		if err := r.upgrade(t, s.set(t, namespace, second), false, false); err != nil {
			t.Fatalf("upgrading: %v", err)
		}
		if got, want := minReady(t, s.live(t, namespace)), choose(s, int64(5), 9); got != want {
			t.Errorf("minReadySeconds, 5 in the chart, after another client wrote 9: got %d, want %d", got, want)
		}
	})
}

// TestHelmsServerSideUpgradeMergesBothKindsAlike is Helm 4 as it comes.
func TestHelmsServerSideUpgradeMergesBothKindsAlike(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		r := install(t, s.set(t, namespace, first), true)
		s.patch(t, namespace, sidecar)
		if err := r.upgrade(t, s.set(t, namespace, second), true, false); err != nil {
			t.Fatalf("upgrading: %v", err)
		}
		if got := containers(t, s.live(t, namespace)); got != withSidecar {
			t.Errorf("containers after another client added one: got %s, want %s", got, withSidecar)
		}

		s.patch(t, namespace, slower)
		if err := r.upgrade(t, s.set(t, namespace, second), true, false); err == nil || !strings.Contains(err.Error(), "minReadySeconds") {
			t.Errorf("upgrading a field that another client changed: got error %v, want one that names minReadySeconds", err)
		}
		if err := r.upgrade(t, s.set(t, namespace, second), true, true); err != nil {
			t.Fatalf("upgrading with --force-conflicts: %v", err)
		}
		if got := minReady(t, s.live(t, namespace)); got != 5 {
			t.Errorf("minReadySeconds after --force-conflicts: got %d, want 5", got)
		}
	})
}

// TestReleasesOfTheClientSideChangeToTheServerSide is helm upgrade --server-side=true of a release that Helm 3 has installed. The
// chart does not have the variable any more.
func TestReleasesOfTheClientSideChangeToTheServerSide(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		r := install(t, s.set(t, namespace, first), false)
		s.patch(t, namespace, sidecar)
		changed := s.set(t, namespace, second)
		main, _ := containerList(t, changed)[0].(map[string]any)
		delete(main, "env")
		if err := unstructured.SetNestedSlice(changed.Object, []any{main}, "spec", "template", "spec", "containers"); err != nil {
			t.Fatal(err)
		}
		if err := r.upgrade(t, changed, true, false, kube.ClientUpdateOptionUpgradeClientSideFieldManager(true)); err != nil {
			t.Fatalf("upgrading: %v", err)
		}
		live := s.live(t, namespace)
		if got := containers(t, live); got != withSidecar {
			t.Errorf("containers after another client added one: got %s, want %s", got, withSidecar)
		}
		for _, item := range containerList(t, live) {
			if container, _ := item.(map[string]any); container["env"] != nil {
				t.Errorf("variables of container %v: got %v, want none", container["name"], container["env"])
			}
		}
	})
}
