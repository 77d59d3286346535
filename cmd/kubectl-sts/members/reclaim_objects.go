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

// leftObject is an object of a member that a set does not want any more.
type leftObject struct {
	metav1.PartialObjectMetadata

	kind     string
	resource schema.GroupVersionResource
}

func (o leftObject) String() string { return o.kind + " " + o.Name }

// connectObjects makes the clients for objects of any kind.
func (r *replacement) connectObjects(getter genericclioptions.RESTClientGetter) error {
	aim, err := target.Of(getter)
	if err != nil {
		return err
	}
	if r.objects, err = metadata.NewForConfig(aim.Config); err != nil {
		return fmt.Errorf("building a client for objects: %w", err)
	}
	if r.kinds, err = getter.ToRESTMapper(); err != nil {
		return fmt.Errorf("asking which kinds the cluster has: %w", err)
	}
	return nil
}

// reclaimObjects deletes the objects of members that a set does not want and that have no pod, when the
// user has seen which.
func (r *replacement) reclaimObjects(ctx context.Context, set *v1.StatefulSet) error {
	objects, err := r.leftObjects(ctx, set)
	if err != nil {
		return err
	}
	if objects, err = r.withoutKnown(ctx, objects); err != nil {
		return err
	}
	for _, object := range objects {
		r.say("%s is deleted%s", object, target.DryRunSuffix(r.dryRun))
	}
	switch {
	case len(objects) == 0:
		r.say("the members have no objects to delete that are not being deleted already")
		return nil
	case r.dryRun == cmdutil.DryRunClient:
		return nil
	case !r.yes && r.dryRun == cmdutil.DryRunNone:
		if agreed, err := r.confirm("Delete them? [y/N] "); err != nil || !agreed {
			r.say("nothing was changed")
			return err
		}
	}
	for i, object := range objects {
		// Who brings the member back changes the object first, if it was to be deleted.
		options := metav1.DeleteOptions{DryRun: target.DryRun(r.dryRun), PropagationPolicy: new(metav1.DeletePropagationBackground),
			Preconditions: &metav1.Preconditions{UID: &object.UID, ResourceVersion: &object.ResourceVersion}}
		err := r.objects.Resource(object.resource).Namespace(r.namespace).Delete(ctx, object.Name, options)
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("deleting %s, the %d before it are being deleted: %w", object, i, err)
		}
	}
	return nil
}

// leftObjects are the objects that the set says that it has made for the members, of the kinds that it
// describes now, but for those that are being deleted already, that somebody else controls, and that have
// the name of one that the set wants.
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
			return nil, fmt.Errorf("asking for kind %s: %w", kind.Kind, err)
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

// withoutKnown leaves out the generated Secrets that a claim knows, and says so: nobody could use its data
// without them.
func (r *replacement) withoutKnown(ctx context.Context, objects []leftObject) ([]leftObject, error) {
	if !slices.ContainsFunc(objects, leftObject.isGenerated) {
		return objects, nil
	}
	claims, err := r.host.CoreV1().PersistentVolumeClaims(r.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing claims that may know what was drawn: %w", err)
	}
	return slices.DeleteFunc(objects, func(object leftObject) bool {
		at := slices.IndexFunc(claims.Items, func(claim corev1.PersistentVolumeClaim) bool {
			return slices.Contains(identity.GeneratedOf(&claim), object.Name)
		})
		if !object.isGenerated() || at < 0 {
			return false
		}
		r.say("%s stays: claim %s may hold data that was written with it", object, claims.Items[at].Name)
		return true
	}), nil
}

// isGenerated reports whether texts were drawn for an object.
func (o leftObject) isGenerated() bool { return o.Annotations[v1.GeneratedAnnotation] != "" }

// wantedObjects are those that a set is to have.
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
