// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan/action"
)

// setSkew sets by how much the controller's clock differs from the host's, as in "skew -720h".
func (h *host) setSkew(text string) {
	skew, err := time.ParseDuration(text)
	if err != nil {
		h.t.Fatalf("reading %q as a duration: %v", text, err)
	}
	h.skew = skew
}

// unprove takes off an object, as in "unprove www-web-1", who has written which of its fields.
func (h *host) unprove(names []string) {
	for _, name := range names {
		if h.claims[name] != nil {
			h.changeClaim(name, func(claim *corev1.PersistentVolumeClaim) { claim.ManagedFields = nil })
			continue
		}
		h.changeObject(name, func(o *Object) { o.ManagedFields = nil })
	}
}

// skews are the clocks of controllers that are drawn: two of three are right.
var skews = []string{"0s", "-720h", "0s", "720h", "0s", "-1h", "0s", "90s", "0s"}

// isEarly reports whether an action deletes what is not due by the host's clock, which a controller plans
// whose own is ahead, and the executor refuses.
func (h *host) isEarly(act action.Action) bool {
	switch a := act.(type) {
	case action.DeleteClaim:
		return h.now.Before(a.Due)
	case action.DeleteObject:
		return h.now.Before(a.Due)
	default:
		return false
	}
}

// begun is since when the delay of an object counts: the date that is noted on it, but no time before the
// host has written that, as far as its own times show, and whether these show anything.
func begun(noted time.Time, object metav1.Object) (since time.Time, shown bool) {
	since = noted
	if created := object.GetCreationTimestamp().Time; created.After(since) {
		since = created
	}
	for _, entry := range object.GetManagedFields() {
		if shown = true; entry.Time.After(since) {
			since = entry.Time.Time
		}
	}
	return since, shown
}
