// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// noteName is the ConfigMap in which the server keeps which store is the right one.
const noteName = "statefulset-apiserver-store"

// store looks at what the cluster knows about the server's store. Whether the server
// has refused its store shows in the registration: it answers 503.
func (e *examiner) store(ctx context.Context) []finding {
	about := fmt.Sprintf("store, as noted in configmap %s/%s", e.system, noteName)
	logs := "kubectl -n " + e.system +
		" logs deployment/statefulset-apiserver  # if the store was refused, it says why, and gives the commands"
	note, err := e.host.CoreV1().ConfigMaps(e.system).Get(ctx, noteName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return []finding{isDoubtful(about, "there is no note: no server has served from a store yet, or somebody has deleted it", logs)}
	case err != nil:
		return []finding{isUnknown(about, err)}
	case note.Data["store"] == "":
		return []finding{isBroken(about, "no store is known: the server waits for an operator's decision", logs)}
	}
	return []finding{isFine(about, "store %s had come to revision %s", note.Data["store"], note.Data["revision"])}
}
