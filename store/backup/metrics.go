// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

const (
	resultVerified = "verified"
	resultFailed   = "failed"
)

// progress are metrics of copies for operators and their alerts.
type progress struct {
	attempts     *metrics.CounterVec
	lastVerified *metrics.Gauge
}

func newProgress() progress {
	p := progress{
		attempts: metrics.NewCounterVec(&metrics.CounterOpts{
			Subsystem: "statefulset_apiserver", Name: "backups_total",
			Help: "How many copies of the store were verified, and how many attempts failed", StabilityLevel: metrics.ALPHA,
		}, []string{"result"}),
		lastVerified: metrics.NewGauge(&metrics.GaugeOpts{
			Subsystem: "statefulset_apiserver", Name: "last_verified_backup_timestamp_seconds",
			Help:           "When the newest verified copy of the store was begun, in seconds since 1970; reported by the leading replica",
			StabilityLevel: metrics.ALPHA,
		}),
	}
	// Only tests run this twice in one process. The second registration then fails without effect.
	for _, m := range []metrics.Registerable{p.attempts, p.lastVerified} {
		_ = legacyregistry.Register(m)
	}
	return p
}
