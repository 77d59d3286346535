// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"statefulset.dev/registry/damaged"
)

// tolerate makes storage continue when one of its sets cannot be read.
func (c *Config) tolerate(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return damaged.Tolerate(getter, c.damagedSets())
}

// damagedSets returns the record of damaged sets that all readers of etcd share.
func (c *Config) damagedSets() *damaged.Sets {
	if c.damaged == nil {
		c.damaged = damaged.NewSets(c.Dependents)
	}
	return c.damaged
}

// countDamaged shows operators and their alerts how many sets are damaged. The server stays ready,
// because it serves all other sets.
func countDamaged(sets *damaged.Sets) {
	count := metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem: "statefulset_apiserver", Name: "damaged_sets",
		Help: "Number of stored sets that cannot be read", StabilityLevel: metrics.ALPHA,
	})
	// A second server in one process, which only tests have, is not counted.
	_ = legacyregistry.Register(count)
	sets.Observe(func(n int) { count.Set(float64(n)) })
}
