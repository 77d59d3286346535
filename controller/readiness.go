// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
)

// The API is ready even if its controller cannot work, so the state of the controller is reported
// in other ways: in the log, by a metric, and by events about the lease, which kubectl sts doctor
// shows.

const (
	// reasonNotReady and reasonReady are the reasons of the events.
	reasonNotReady = "ControllerNotReady"
	reasonReady    = "ControllerReady"

	// readinessInterval is how often the controller's readiness is checked.
	readinessInterval = 5 * time.Second
	// unreadyPatience is how long the controller may be unable to work before that is reported: a
	// new leader must read its first lists.
	unreadyPatience = 15 * time.Second
	// If the controller stays unable to work, it is reported less and less often.
	shortestRepeat = 5 * time.Minute
	longestRepeat  = time.Hour
	// readinessEventTimeout bounds the sending of an event.
	readinessEventTimeout = 10 * time.Second
)

// ReportReadiness reports when the controller cannot work, and when it can again, until the context
// ends.
func (c *Controller) ReportReadiness(ctx context.Context) {
	var reporter readinessReporter
	ticker := c.config.Clock.NewTicker(readinessInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C():
		case <-ctx.Done():
			return
		}
		err := c.Ready()
		c.readyGauge.show(err)
		switch reporter.observe(err, c.config.Clock.Now()) {
		case reportNotReady:
			klog.FromContext(ctx).Error(err, "The controller cannot work")
			c.sendReadiness(ctx, corev1.EventTypeWarning, reasonNotReady, err.Error())
		case reportReady:
			klog.FromContext(ctx).Info("The controller can work again")
			c.sendReadiness(ctx, corev1.EventTypeNormal, reasonReady, "the controller can work again")
		case reportNothing:
		}
	}
}

// readinessReport is what to report.
type readinessReport int

const (
	reportNothing readinessReport = iota
	reportNotReady
	reportReady
)

// readinessReporter decides when to report a state.
type readinessReporter struct {
	since time.Time // zero while the controller can work
	next  time.Time // when to report next that it cannot
	pause time.Duration
}

func (r *readinessReporter) observe(err error, now time.Time) readinessReport {
	switch {
	case err == nil:
		wasReported := r.pause > 0
		*r = readinessReporter{}
		if wasReported {
			return reportReady
		}
	case r.since.IsZero():
		r.since, r.next = now, now.Add(unreadyPatience)
	case !now.Before(r.next):
		r.pause = max(shortestRepeat, min(2*r.pause, longestRepeat))
		r.next = now.Add(r.pause)
		return reportNotReady
	}
	return reportNothing
}

// sendReadiness writes an event about the lease for leader election.
func (c *Controller) sendReadiness(ctx context.Context, eventType, reason, message string) {
	ctx, cancel := context.WithTimeout(ctx, readinessEventTimeout)
	defer cancel()
	now := metav1.NewTime(c.config.Clock.Now())
	_, err := c.config.Host.CoreV1().Events(c.config.LeaseNamespace).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", c.config.LeaseName, now.UnixNano()), Namespace: c.config.LeaseNamespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "coordination.k8s.io/v1", Kind: "Lease", Namespace: c.config.LeaseNamespace, Name: c.config.LeaseName,
		},
		Type: eventType, Reason: reason, Message: fmt.Sprintf("%s: %s", c.config.Identity, message),
		Source: corev1.EventSource{Component: "statefulset-apiserver"}, Count: 1, FirstTimestamp: now, LastTimestamp: now,
	}, metav1.CreateOptions{})
	if err != nil {
		klog.FromContext(ctx).Info("Failed to send an event about the controller", "reason", reason, "err", err)
	}
}

// readyGauge shows whether the controller can work.
type readyGauge struct{ *metrics.Gauge }

func newReadyGauge(register func(metrics.Registerable) error) (readyGauge, error) {
	gauge := readyGauge{metrics.NewGauge(&metrics.GaugeOpts{
		Subsystem: "statefulset_controller", Name: "ready", StabilityLevel: metrics.ALPHA,
		Help: "1 if the controller of this replica can work or waits to be elected, 0 if it cannot",
	})}
	if register == nil {
		return gauge, nil
	}
	if err := register(gauge.Gauge); err != nil {
		return gauge, fmt.Errorf("registering metrics: %w", err)
	}
	return gauge, nil
}

func (g readyGauge) show(err error) {
	if err != nil {
		g.Set(0)
		return
	}
	g.Set(1)
}
