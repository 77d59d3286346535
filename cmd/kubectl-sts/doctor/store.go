// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// noteName is the ConfigMap in which the server records which store is the right one.
const noteName = "statefulset-apiserver-store"

// store checks what the cluster records about the server's store. If the server has refused its
// store, the check of the registration shows that: the server answers 503.
func (e *examiner) store(ctx context.Context) []finding {
	about := fmt.Sprintf("store, recorded in configmap %s/%s", e.system, noteName)
	logs := "kubectl -n " + e.system +
		" logs deployment/statefulset-apiserver  # if the server refused the store, the log has the reason and the commands"
	note, err := e.host.CoreV1().ConfigMaps(e.system).Get(ctx, noteName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []finding{warnFinding(about, "the ConfigMap does not exist: no server has served a store yet, or a user has deleted it", logs)}
	case err != nil:
		return []finding{skipFinding(about, err)}
	case note.Data["store"] == "":
		return []finding{failFinding(about, "no store is recorded: the server waits for an operator's decision", logs)}
	}
	return []finding{okFinding(about, "store %s had reached revision %s", note.Data["store"], note.Data["revision"])}
}
