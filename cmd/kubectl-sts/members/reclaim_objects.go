// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/metadata"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/cmd/kubectl-sts/target"
	"statefulset.dev/identity"
)

// leftObject is an object of a member that was removed from a set.
type leftObject struct {
	metav1.PartialObjectMetadata

	kind     string
	resource schema.GroupVersionResource
}

func (o leftObject) String() string { return o.kind + " " + o.Name }

// connectObjects creates the clients for objects of any kind.
func (r *replacement) connectObjects(getter genericclioptions.RESTClientGetter) error {
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	if r.objects, err = metadata.NewForConfig(aim.Config); err != nil {
		return fmt.Errorf("building a client for objects: %w", err)
	}
	if r.kinds, err = getter.ToRESTMapper(); err != nil {
		return fmt.Errorf("getting the kinds of the cluster: %w", err)
	}
	return nil
}

// reclaimObjects deletes the objects of removed members that have no pod. It first shows them to
// the user, and asks for confirmation.
func (r *replacement) reclaimObjects(ctx context.Context, set *v1.StatefulSet) error {
	objects, err := r.leftObjects(ctx, set)
	if err != nil {
		return err
	}
	if objects, err = r.withoutKnown(ctx, objects); err != nil {
		return err
	}
	for _, object := range objects {
		r.printf("%s will be deleted%s", object, target.DryRunSuffix(r.dryRun))
	}
	switch {
	case len(objects) == 0:
		r.printf("the members have no objects to delete that are not already being deleted")
		return nil
	case r.dryRun == cmdutil.DryRunClient:
		return nil
	case !r.yes && r.dryRun == cmdutil.DryRunNone:
		if agreed, err := r.confirm("Delete them? [y/N] "); err != nil || !agreed {
			r.printf("nothing was changed")
			return err
		}
	}
	for i, object := range objects {
		// The resource version is a precondition, because before a member returns, the controller changes
		// its objects that were due for deletion.
		options := metav1.DeleteOptions{DryRun: target.DryRun(r.dryRun), PropagationPolicy: new(metav1.DeletePropagationBackground),
			Preconditions: &metav1.Preconditions{UID: &object.UID, ResourceVersion: &object.ResourceVersion}}
		err := r.objects.Resource(object.resource).Namespace(r.namespace).Delete(ctx, object.Name, options)
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s (the %d objects before it are being deleted): %w", object, i, err)
		}
	}
	return nil
}

// leftObjects returns the objects that the set has created for the members, according to their
// owner annotation, of the kinds that the set has templates for. It omits objects that are already
// being deleted, that have a controller, or that have the name of a desired object.
func (r *replacement) leftObjects(ctx context.Context, set *v1.StatefulSet) (all []leftObject, err error) {
	templates, wrong := identity.OverridesOf(set).Objects()
	if wrong != nil {
		return nil, fmt.Errorf("reading spec.%s: %s", wrong.In, wrong.Detail)
	}
	wanted := wantedObjects(set, templates)
	ordinals := make([]string, len(r.ordinals))
	for i, ordinal := range r.ordinals {
		ordinals[i] = strconv.Itoa(int(ordinal))
	}
	selector := fmt.Sprintf("%s=%s,%s in (%s)", v1.ObjectSetLabel, set.Name, v1.ObjectOrdinalLabel, strings.Join(ordinals, ","))
	for _, kind := range identity.ObjectKinds(set) {
		mapping, err := r.kinds.RESTMapping(kind.GroupKind(), kind.Version)
		switch {
		case meta.IsNoMatchError(err):
			continue // the cluster has no such objects
		case err != nil:
			return nil, fmt.Errorf("looking up kind %s: %w", kind.Kind, err)
		}
		list, err := r.objects.Resource(mapping.Resource).Namespace(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", mapping.Resource.Resource, err)
		}
		for _, object := range list.Items {
			controlled := metav1.GetControllerOfNoCopy(&object) != nil
			own := object.Annotations[v1.OwnerAnnotation] == identity.OwnerMark(set)
			if own && !controlled && object.DeletionTimestamp == nil &&
				!wanted[identity.ObjectKey{Group: kind.Group, Kind: kind.Kind, Name: object.Name}] {
				all = append(all, leftObject{object, kind.Kind, mapping.Resource})
			}
		}
	}
	slices.SortFunc(all, func(a, b leftObject) int { return strings.Compare(a.String(), b.String()) })
	return all, nil
}

// withoutKnown removes the generated Secrets that a claim names, and reports them: without such a
// Secret, the data of the claim could be useless.
func (r *replacement) withoutKnown(ctx context.Context, objects []leftObject) ([]leftObject, error) {
	if !slices.ContainsFunc(objects, leftObject.isGenerated) {
		return objects, nil
	}
	claims, err := r.host.CoreV1().PersistentVolumeClaims(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing claims that may name generated Secrets: %w", err)
	}
	return slices.DeleteFunc(objects, func(object leftObject) bool {
		at := slices.IndexFunc(claims.Items, func(claim corev1.PersistentVolumeClaim) bool {
			return slices.Contains(identity.GeneratedOf(&claim), object.Name)
		})
		if !object.isGenerated() || at < 0 {
			return false
		}
		r.printf("%s stays: claim %s may have data that needs it", object, claims.Items[at].Name)
		return true
	}), nil
}

// isGenerated reports whether an object has generated values.
func (o leftObject) isGenerated() bool { return o.Annotations[v1.GeneratedAnnotation] != "" }

// wantedObjects returns the keys of the objects that a set should have.
func wantedObjects(set *v1.StatefulSet, templates []identity.Object) map[identity.ObjectKey]bool {
	wanted := map[identity.ObjectKey]bool{}
	for _, template := range templates {
		if template.ForSet() {
			wanted[template.Key(0)] = true
			continue
		}
		for ordinal := range identity.OrdinalsOf(set).All() {
			wanted[template.Key(ordinal)] = true
		}
	}
	return wanted
}
