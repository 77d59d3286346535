// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// ShowExpiry adds a metric for the expiry of the serving certificate, for alerts, independent of
// what renews it. Each scrape reads the certificate again, because files may change while the
// server runs. Without a readable certificate, the metric is missing.
func ShowExpiry(serving dynamiccertificates.CertKeyContentProvider) {
	if serving == nil {
		return
	}
	// A second server in one process, which only tests have, has no metric.
	_ = legacyregistry.CustomRegister(&expiry{serving: serving, desc: metrics.NewDesc(
		metrics.BuildFQName("", "statefulset_apiserver", "certificate_expiration_seconds"),
		"Expiration time of the serving certificate, in seconds since 1970", nil, nil, metrics.ALPHA, "")})
}

// expiry is a metric that reads a certificate.
type expiry struct {
	metrics.BaseStableCollector
	serving dynamiccertificates.CertKeyContentProvider
	desc    *metrics.Desc
}

func (e *expiry) DescribeWithStability(to chan<- *metrics.Desc) { to <- e.desc }

func (e *expiry) CollectWithStability(to chan<- metrics.Metric) {
	if ends, err := expires(e.serving); err == nil {
		to <- metrics.NewLazyConstMetric(e.desc, metrics.GaugeValue, float64(ends.Unix()))
	}
}

func expires(serving dynamiccertificates.CertKeyContentProvider) (time.Time, error) {
	pair, err := tls.X509KeyPair(serving.CurrentCertKeyContent())
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the serving certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the serving certificate: %w", err)
	}
	return leaf.NotAfter, nil
}
