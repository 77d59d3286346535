// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package scenarios

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// retainsOne describes what retains describes, without the ConfigMap that is deleted.
func retainsOne(version int) Patch {
	return Patch(fmt.Sprintf(`{"spec":{"objectTemplates":[
		{"name":"kept","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"$(IDENTITY)-kept"},"data":{"version":"%d"}}}]}}`,
		version))
}

// GoesWithTemplate reports whether an object that belongs to the set must be deleted some time
// after its template was removed, and when the template was removed.
func GoesWithTemplate(set *v1.StatefulSet, object metav1.Object) (removed time.Time, after time.Duration, goes bool) {
	name := object.GetLabels()[v1.ObjectTemplateLabel]
	described := slices.ContainsFunc(set.Spec.ObjectTemplates, func(t v1.ObjectTemplate) bool { return t.Name == name })
	at := slices.IndexFunc(set.Status.ObjectTemplates, func(s v1.ObjectTemplateStatus) bool { return s.RemovedAt != nil && s.Name == name })
	if described || at < 0 || object.GetAnnotations()[v1.OwnerAnnotation] != set.Name+"/"+string(set.UID) {
		return time.Time{}, 0, false
	}
	told := set.Status.ObjectTemplates[at]
	if seconds := told.Retention.ScaledAfterSeconds; seconds != nil {
		after = time.Duration(*seconds) * time.Second
	}
	return told.RemovedAt.Time, after, true
}

// NeededStill returns why an object of a removed template must stay for now, empty if it may be
// deleted: an update is in progress, or the pod of its member, nil if there is none, is not up to
// date.
func NeededStill(set *v1.StatefulSet, pod *corev1.Pod) string {
	switch status := set.Status; {
	case status.CurrentRevision != status.UpdateRevision:
		return fmt.Sprintf("an update is in progress, from %s to %s", status.CurrentRevision, status.UpdateRevision)
	case pod != nil && pod.Labels[appsv1.ControllerRevisionHashLabelKey] != status.UpdateRevision:
		return fmt.Sprintf("pod %s has revision %s, not %s", pod.Name, pod.Labels[appsv1.ControllerRevisionHashLabelKey], status.UpdateRevision)
	default:
		return ""
	}
}
