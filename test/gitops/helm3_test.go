//go:build gitops

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package gitops

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// TestHelm3UpgradesAsHelm4DoesOnTheClientSide plays what TestHelmsClientSideUpgrade... play with Helm 4.
func TestHelm3UpgradesAsHelm4DoesOnTheClientSide(t *testing.T) {
	onBothSides(t, func(t *testing.T, s side, namespace string) {
		kubeconfig := suite.Kubeconfig()
		flags := genericclioptions.NewConfigFlags(true)
		flags.KubeConfig, flags.Namespace = &kubeconfig, &namespace
		client := kube.New(flags)
		client.Log = t.Logf
		resources := func(set *unstructured.Unstructured) kube.ResourceList {
			t.Helper()
			list, err := client.Build(strings.NewReader(asYAML(t, set)), false)
			if err != nil {
				t.Fatalf("reading the manifests: %v", err)
			}
			return list
		}
		installed := resources(s.set(t, namespace, first))
		if _, err := client.Create(installed); err != nil {
			t.Fatalf("installing: %v", err)
		}
		s.patch(t, namespace, sidecar)
		s.patch(t, namespace, slower)
		if _, err := client.Update(installed, resources(s.set(t, namespace, second)), false); err != nil {
			t.Fatalf("upgrading: %v", err)
		}
		live := s.live(t, namespace)
		if got, want := containers(t, live), choose(s, withSidecar, withoutIt); got != want {
			t.Errorf("containers after another client added one: got %s, want %s", got, want)
		}
		if got, want := minReady(t, live), choose(s, int64(5), 9); got != want {
			t.Errorf("minReadySeconds, 5 in the chart, after another client wrote 9: got %d, want %d", got, want)
		}
	})
}
