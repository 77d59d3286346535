// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	v1 "statefulset.dev/api/apps/v1"
)

// unregister removes the registration, if nothing belongs to a set at this moment, and waits
// until the cluster no longer lists the group.
func (r *run) unregister(ctx context.Context) error {
	left, err := r.countOwned(ctx)
	if err != nil {
		return err
	}
	if !left.none() {
		return fmt.Errorf("%s belong to sets that were created in the meantime: the registration stays; run this again", left)
	}
	if err := r.remove(ctx, registration()); err != nil {
		return err
	}
	return r.await(ctx, "the cluster no longer lists "+v1.GroupName, func(context.Context) (string, error) {
		groups, err := r.host.Discovery().ServerGroups()
		if err != nil {
			return "", fmt.Errorf("listing the API groups of the cluster: %w", err)
		}
		if slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == v1.GroupName }) {
			return "it is still listed", nil
		}
		return "", nil
	})
}

// remove deletes an object with the permission of the guard, and waits until it is deleted. An
// object with pods is deleted after its pods.
func (r *run) remove(ctx context.Context, o object) error {
	existed := false
	return r.await(ctx, o.String()+" no longer exists", func(ctx context.Context) (string, error) {
		found, err := r.get(ctx, o)
		if err != nil {
			return "", err
		}
		if found == nil {
			if existed {
				r.printf("removed %s", o)
			}
			return "", nil
		}
		existed = true
		if err := r.release(ctx, o, found); err != nil {
			return "", err
		}
		if found.DeletionTimestamp != nil {
			return "it is being deleted", nil
		}
		policy := metav1.DeletePropagationBackground
		if o.kind.Group == "apps" {
			policy = metav1.DeletePropagationForeground
		}
		err = r.client(o).Delete(ctx, o.name,
			metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &found.UID}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return "", fmt.Errorf("deleting %s: %w", o, err)
		}
		found, err = r.get(ctx, o)
		if err != nil || found == nil {
			if err == nil {
				r.printf("removed %s", o)
			}
			return "", err
		}
		return "it is being deleted", nil
	})
}

// release annotates an object for the guard, and removes the finalizer of the guard itself.
func (r *run) release(ctx context.Context, o object, found *metav1.PartialObjectMetadata) error {
	var patch []byte
	switch {
	case slices.Contains(found.Finalizers, finalizer):
		kept := slices.DeleteFunc(slices.Clone(found.Finalizers), func(name string) bool { return name == finalizer })
		patch = fmt.Appendf(nil, `{"metadata":{"uid":%q,"resourceVersion":%q,"finalizers":%s}}`, found.UID, found.ResourceVersion, quoted(kept))
	case found.Annotations[allowDelete] != "yes" && found.DeletionTimestamp == nil:
		patch = fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:"yes"}}}`, found.UID, allowDelete)
	default:
		return nil
	}
	_, err := r.client(o).Patch(ctx, o.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-sts"})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("releasing %s: %w", o, err)
	}
	return nil
}

func (r *run) client(o object) metadata.ResourceInterface {
	if o.everywhere {
		return r.objects.Resource(o.kind)
	}
	return r.objects.Resource(o.kind).Namespace(r.namespaceOf(o))
}

func (r *run) namespaceOf(o object) string {
	switch {
	case o.everywhere:
		return ""
	case o.namespace != "":
		return o.namespace
	default:
		return r.system
	}
}
