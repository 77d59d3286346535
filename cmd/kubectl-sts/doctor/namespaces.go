// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// mostNamed is how many namespaces the finding lists.
const mostNamed = 10

// namespaces finds namespaces whose deletion waits for our API. While an API is registered but does
// not answer, the cluster cannot complete the deletion of any namespace.
func (e *examiner) namespaces(ctx context.Context) []finding {
	about := "namespaces that are being deleted"
	all, err := e.host.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return []finding{skipFinding(about, err)}
	}
	var stuck []string
	for i := range all.Items {
		if waitsForOurAPI(&all.Items[i]) {
			stuck = append(stuck, all.Items[i].Name)
		}
	}
	if len(stuck) == 0 {
		return []finding{okFinding(about, "none waits for %s", v1.GroupName)}
	}
	names := strings.Join(stuck[:min(len(stuck), mostNamed)], ", ")
	return []finding{failFinding(about, fmt.Sprintf("%d wait until %s answers again: %s", len(stuck), v1.GroupName, names),
		"kubectl apply -k artifacts/base  # bring the server back",
		"kubectl sts uninstall  # or remove its registration, if no sets are left")}
}

// waitsForOurAPI reports whether the status of a namespace says that the cluster cannot find out
// which sets are in it, or cannot delete them.
func waitsForOurAPI(namespace *corev1.Namespace) bool {
	if namespace.DeletionTimestamp == nil {
		return false
	}
	for _, c := range namespace.Status.Conditions {
		failed := c.Type == corev1.NamespaceDeletionDiscoveryFailure || c.Type == corev1.NamespaceDeletionContentFailure
		if failed && c.Status == corev1.ConditionTrue && strings.Contains(c.Message, v1.GroupName) {
			return true
		}
	}
	return false
}
