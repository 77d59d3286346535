// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/metrics"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/objects"
	"statefulset.dev/controller/plan"
)

// gauges are the metrics of the apps/v1 controller, under the same names, the window, and the
// objects.
type gauges struct {
	window                      *metrics.Gauge
	objects                     *objects.Gauge
	maxUnavailable, unavailable *metrics.GaugeVec
	skips                       *metrics.CounterVec
}

func newGauges(register func(metrics.Registerable) error) (*gauges, error) {
	perSet := func(name, help string) *metrics.GaugeVec {
		return metrics.NewGaugeVec(&metrics.GaugeOpts{
			Subsystem: "statefulset_controller", Name: name, Help: help, StabilityLevel: metrics.ALPHA,
		}, []string{"statefulset_namespace", "statefulset_name", "pod_management_policy"})
	}
	g := &gauges{
		objects: objects.NewGauge(),
		window: metrics.NewGauge(&metrics.GaugeOpts{
			Subsystem: "statefulset_controller", Name: "host_window",
			Help: "How many writes the controller sends to the host cluster at a time, as of its last write", StabilityLevel: metrics.ALPHA,
		}),
		maxUnavailable: perSet("statefulset_max_unavailable", "How many members of a set may be unavailable because of an update"),
		unavailable:    perSet("statefulset_unavailable_replicas", "How many desired members of a set are missing or unavailable"),
		skips: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem: "statefulset_controller", Name: "stale_sync_skips_total",
			Help: "How often the sync of a set was skipped because the caches did not show its own writes yet", StabilityLevel: metrics.ALPHA,
		}, []string{"group", "resource"}),
	}
	if register == nil {
		return g, nil
	}
	if err := errors.Join(register(g.window), register(g.maxUnavailable), register(g.unavailable), register(g.skips),
		register(g.objects.GaugeVec)); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return g, nil
}

func (g *gauges) show(set *v1.StatefulSet, decided plan.Plan) {
	labels := labelsOf(cache.MetaObjectToName(set), set.Spec.PodManagementPolicy)
	g.maxUnavailable.With(labels).Set(float64(decided.MaxUnavailable))
	g.unavailable.With(labels).Set(float64(decided.Unavailable))
	g.objects.Show(cache.MetaObjectToName(set), decided.Status.ObjectTemplates)
}

func (g *gauges) skipped(all kinds, unseen []resource) {
	for _, kind := range unseen {
		g.skips.With(map[string]string{"group": all.of(kind).group, "resource": string(kind)}).Inc()
	}
}

// forget drops a deleted set, so that its last numbers are not shown forever.
func (g *gauges) forget(key cache.ObjectName) {
	for _, policy := range []v1.PodManagementPolicyType{v1.OrderedReadyPodManagement, v1.ParallelPodManagement} {
		g.maxUnavailable.Delete(labelsOf(key, policy))
		g.unavailable.Delete(labelsOf(key, policy))
	}
	g.objects.Show(key, nil)
}

// reset drops all sets, because another replica shows them now.
func (g *gauges) reset() {
	g.maxUnavailable.Reset()
	g.unavailable.Reset()
	g.objects.Drop()
}

func labelsOf(key cache.ObjectName, policy v1.PodManagementPolicyType) map[string]string {
	return map[string]string{
		"statefulset_namespace": key.Namespace, "statefulset_name": key.Name, "pod_management_policy": string(policy),
	}
}
