// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
)

// leaseName is the Lease of the controller's leader.
const leaseName = "statefulset-apiserver-controller"

// leader checks that a controller works.
func (e *examiner) leader(ctx context.Context) []finding {
	about := fmt.Sprintf("controller, lease %s/%s", e.system, leaseName)
	logs := "kubectl -n " + e.system + " logs deployment/statefulset-apiserver"
	lease, err := e.host.CoordinationV1().Leases(e.system).Get(ctx, leaseName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []finding{failFinding(about, "no controller has ever led, or replicas run with --leader-elect=false", logs)}
	case err != nil:
		return []finding{skipFinding(about, err)}
	}
	holder, silent := heldBy(lease, e.now)
	if holder == "" {
		return []finding{failFinding(about, "no controller leads: the last leader released the lease", logs)}
	}
	if limit := v1.Seconds(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)); silent > limit {
		return []finding{failFinding(about,
			fmt.Sprintf("no controller leads: %s has not renewed the lease for %s", holder, silent.Round(time.Second)), logs)}
	}
	if reason := e.trouble(ctx, holder); reason != "" {
		return []finding{failFinding(about, "the controller cannot work: "+reason, logs)}
	}
	return []finding{okFinding(about, "%s leads", holder)}
}

// trouble returns what prevents the holder of the lease from working, from the last event that the
// holder has emitted about the lease. The API is ready meanwhile.
func (e *examiner) trouble(ctx context.Context, holder string) string {
	events, err := e.host.CoreV1().Events(e.system).List(ctx, metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Lease,involvedObject.name=" + leaseName,
	})
	if err != nil {
		return ""
	}
	var last corev1.Event
	for _, event := range events.Items {
		if strings.HasPrefix(event.Message, holder+": ") && !event.LastTimestamp.Before(&last.LastTimestamp) {
			last = event
		}
	}
	if last.Reason != "ControllerNotReady" {
		return ""
	}
	return strings.TrimPrefix(last.Message, holder+": ")
}

// heldBy returns the holder of a lease, and for how long it has not renewed the lease.
func heldBy(lease *coordinationv1.Lease, now time.Time) (holder string, silent time.Duration) {
	if lease.Spec.HolderIdentity != nil {
		holder = *lease.Spec.HolderIdentity
	}
	if lease.Spec.RenewTime != nil {
		silent = now.Sub(lease.Spec.RenewTime.Time)
	}
	return holder, silent
}
