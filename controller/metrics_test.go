// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan"
)

func TestMetricsShowASetUntilItIsGone(t *testing.T) {
	registry := metrics.NewKubeRegistry()
	gauges, err := newGauges(registry.Register)
	if err != nil {
		t.Fatalf("registering: %v", err)
	}
	set := &v1.StatefulSet{}
	set.Namespace, set.Name, set.Spec.PodManagementPolicy = "shop", "web", v1.ParallelPodManagement
	gauges.show(set, plan.Plan{Unavailable: 2, MaxUnavailable: 3})
	gauges.skipped(watchedKinds(fake.NewClientset(), nil), []resource{revisionsResource})

	const names = "statefulset_controller_statefulset_max_unavailable statefulset_controller_statefulset_unavailable_replicas"
	want := `# HELP statefulset_controller_statefulset_max_unavailable [ALPHA] How many members of a set may be unavailable because of an update
# TYPE statefulset_controller_statefulset_max_unavailable gauge
statefulset_controller_statefulset_max_unavailable{pod_management_policy="Parallel",statefulset_name="web",statefulset_namespace="shop"} 3
# HELP statefulset_controller_statefulset_unavailable_replicas [ALPHA] How many desired members of a set are missing or unavailable
# TYPE statefulset_controller_statefulset_unavailable_replicas gauge
statefulset_controller_statefulset_unavailable_replicas{pod_management_policy="Parallel",statefulset_name="web",statefulset_namespace="shop"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), strings.Fields(names)...); err != nil {
		t.Errorf("metrics of a set: %v", err)
	}
	gauges.forget(cache.MetaObjectToName(set))
	if err := testutil.GatherAndCompare(registry, strings.NewReader(""), strings.Fields(names)...); err != nil {
		t.Errorf("metrics after the set is gone: %v", err)
	}
	skips := `# HELP statefulset_controller_stale_sync_skips_total [ALPHA] How often the sync of a set was skipped because the caches did not show its own writes yet
# TYPE statefulset_controller_stale_sync_skips_total counter
statefulset_controller_stale_sync_skips_total{group="apps",resource="controllerrevisions"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(skips), "statefulset_controller_stale_sync_skips_total"); err != nil {
		t.Errorf("metrics of skipped syncs: %v", err)
	}
}
