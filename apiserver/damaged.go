// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"statefulset.dev/registry/damaged"
)

// tolerate makes storage go on when one set in it cannot be read.
func (c *Config) tolerate(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return damaged.Tolerate(getter, c.damagedSets())
}

// damagedSets are shared by everybody who reads sets from etcd.
func (c *Config) damagedSets() *damaged.Sets {
	if c.damaged == nil {
		c.damaged = damaged.NewSets(c.Dependents)
	}
	return c.damaged
}

// countDamaged lets operators and their alerts see that there are damaged sets. The server
// stays ready: all others are served.
func countDamaged(sets *damaged.Sets) {
	count := metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem: "statefulset_apiserver", Name: "damaged_sets",
		Help: "How many stored sets cannot be read", StabilityLevel: metrics.ALPHA,
	})
	// A second server in one process, which only tests have, is not counted.
	_ = legacyregistry.Register(count)
	sets.Observe(func(n int) { count.Set(float64(n)) })
}
