// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// missingRevisions are the names of revisions that are not among those found, although pods of the
// set run them or its status names one as the current revision. Pods and revisions reach the caches
// independently: a set that takes over the pods of another set must not decide about them before it
// knows their revisions.
func missingRevisions(set *v1.StatefulSet, pods []*corev1.Pod, found []*appsv1.ControllerRevision) []string {
	known := map[string]bool{"": true}
	for _, revision := range found {
		known[revision.Name] = true
	}
	var missing []string
	add := func(name string) {
		if !known[name] {
			known[name] = true
			missing = append(missing, name)
		}
	}
	add(set.Status.CurrentRevision)
	for _, pod := range pods {
		if controller := metav1.GetControllerOfNoCopy(pod); controller == nil || controller.UID == set.UID {
			add(pod.Labels[identity.RevisionLabel])
		}
	}
	return missing
}

// readRevisions reads revisions past the cache, and leaves out those that do not exist.
func (t *term) readRevisions(ctx context.Context, set *v1.StatefulSet, names []string) ([]*appsv1.ControllerRevision, error) {
	var all []*appsv1.ControllerRevision
	for _, name := range names {
		revision, err := readLive[*appsv1.ControllerRevision](ctx, t.kinds.of(revisionsResource), set.Namespace, name)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return nil, err
		default:
			all = append(all, revision)
		}
	}
	return all, nil
}
