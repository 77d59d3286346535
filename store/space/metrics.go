// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package space

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// fillMetrics show how full the store is. Without an answer of etcd there are no values.
type fillMetrics struct {
	metrics.BaseStableCollector
	latest            func() fill
	file, used, quota *metrics.Desc
}

func newFillMetrics(latest func() fill) *fillMetrics {
	desc := func(name, help string) *metrics.Desc {
		return metrics.NewDesc(metrics.BuildFQName("", "statefulset_apiserver", name), help, nil, nil, metrics.ALPHA, "")
	}
	return &fillMetrics{
		latest: latest,
		file:   desc("store_bytes", "Size of the database of etcd, on its fullest member, in bytes"),
		used:   desc("store_used_bytes", "How much of the database of etcd is in use, in bytes; the rest is reused"),
		quota:  desc("store_quota_bytes", "Size of the database at which etcd accepts no more writes, in bytes"),
	}
}

// showFill registers the metrics for alerts.
func showFill(latest func() fill) {
	// A second server in one process, which only tests have, is not shown.
	_ = legacyregistry.CustomRegister(newFillMetrics(latest))
}

func (m *fillMetrics) DescribeWithStability(to chan<- *metrics.Desc) {
	to <- m.file
	to <- m.used
	to <- m.quota
}

func (m *fillMetrics) CollectWithStability(to chan<- metrics.Metric) {
	now := m.latest()
	if now.file > 0 {
		to <- metrics.NewLazyConstMetric(m.file, metrics.GaugeValue, float64(now.file))
		to <- metrics.NewLazyConstMetric(m.used, metrics.GaugeValue, float64(now.used))
	}
	if now.quota > 0 {
		to <- metrics.NewLazyConstMetric(m.quota, metrics.GaugeValue, float64(now.quota))
	}
}
