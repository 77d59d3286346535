//go:build uninstall

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/test/harness"
)

// meant plays the wrong orders of tools after somebody has taken the guard off and let
// everything go. What is left then is what docs/backup.md promises: members stay, and the
// base, applied again, brings their sets back.
func meant(t *testing.T, w *world) {
	m := w.settle(t, 2)
	all := w.installed(t)
	for _, name := range []string{"kustomize's order", "Helm's order"} {
		t.Run(name, func(t *testing.T) {
			w.kubectl(t, "patch", "validatingadmissionpolicy/statefulset-apiserver-protect",
				"validatingadmissionpolicybinding/statefulset-apiserver-protect",
				"validatingadmissionpolicy/statefulset-preflight", "validatingadmissionpolicybinding/statefulset-preflight",
				"--type=merge", "--patch", `{"metadata":{"finalizers":null}}`)
			for _, object := range all {
				if !isGuard(object) {
					w.kubectl(t, "annotate", "--overwrite", object.GetKind()+"/"+object.GetName(), "--namespace="+object.GetNamespace(),
						"apps.statefulset.dev/allow-delete=yes")
				}
			}
			for i, object := range orders(t, all)[name] {
				if err := w.delete(t, object); err != nil && !apierrors.IsNotFound(err) {
					t.Errorf("deleting %s: %v", nameOf(object), err)
				}
				w.follow(t)
				m.mustStayUnderCollection(t, fmt.Sprintf("after %d deletions, the last of %s", i+1, nameOf(object)))
			}
			w.stop(t)
			harness.EventuallyWithin(t, prompt, "namespace "+system+" is gone", func(ctx context.Context) error {
				ns, err := w.Host.CoreV1().Namespaces().Get(ctx, system, metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return nil
				}
				return fmt.Errorf("get: %w, %+v", err, ns.Status)
			})
			w.install(t)
			m.mustStayUnderCollection(t, "installed again")
			w.mustServe(t)
		})
	}
	m.mustGoPromptly(t)
}
