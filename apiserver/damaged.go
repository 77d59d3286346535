// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"encoding/json"
	"net/http"

	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	"statefulset.dev/registry/damaged"
)

// damagedPath tells which stored sets cannot be read.
const damagedPath = "/debug/damaged"

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

// showDamaged lets operators and their alerts see damaged sets. The server stays ready:
// all others are served.
func showDamaged(server *genericapiserver.GenericAPIServer, sets *damaged.Sets) {
	server.Handler.NonGoRestfulMux.UnlistedHandle(damagedPath, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(sets.List()); err != nil {
			klog.FromContext(req.Context()).V(2).Info("Could not send the damaged sets", "err", err)
		}
	}))
	count := metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem: "statefulset_apiserver", Name: "damaged_sets",
		Help: "How many stored sets cannot be read", StabilityLevel: metrics.ALPHA,
	})
	// A second server in one process, which only tests have, is not counted.
	_ = legacyregistry.Register(count)
	sets.Observe(func(n int) { count.Set(float64(n)) })
}
