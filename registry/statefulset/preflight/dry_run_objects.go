// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// Resources returns the resources that the host cluster serves for objects of a kind.
type Resources func(ctx context.Context, kind schema.GroupVersionKind) ([]metav1.APIResource, error)

// objectRunner tries objects of any kind with the account of this server, which creates them later.
// No other account has exactly the required rights.
type objectRunner struct {
	about     metadata.Interface
	objects   dynamic.Interface
	resources Resources
}

func newObjectRunner(config *rest.Config, resources Resources) (objectRunner, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the gate limits what is asked at the same time
	config.WarningHandlerWithContext = contextWarnings{}
	about, err := metadata.NewForConfig(config)
	if err != nil {
		return objectRunner{}, fmt.Errorf("creating a client for the host cluster at %s: %w", config.Host, err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return objectRunner{}, fmt.Errorf("creating a client for the host cluster at %s: %w", config.Host, err)
	}
	return objectRunner{about, objects, resources}, nil
}

// try sends a dry run that creates an object or, if the set already has it, changes it. It does not
// try an object that the set does not own, because the controller does not change that one.
func (r objectRunner) try(ctx context.Context, object *unstructured.Unstructured) Answer {
	kind := object.GroupVersionKind()
	served, err := r.resources(ctx, kind)
	if err != nil {
		return Answer{Err: err}
	}
	if len(served) != 1 {
		return Answer{Err: fmt.Errorf("the host cluster serves %d resources for %s", len(served), kind.Kind)}
	}
	resource := kind.GroupVersion().WithResource(served[0].Name)
	heard := &warningList{}
	ctx = context.WithValue(ctx, warningsKey{}, heard)
	there, err := r.about.Resource(resource).Namespace(object.GetNamespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
	switch all := r.objects.Resource(resource).Namespace(object.GetNamespace()); {
	case apierrors.IsNotFound(err):
		_, err = all.Create(ctx, object, metav1.CreateOptions{FieldManager: identity.ObjectManager, DryRun: []string{metav1.DryRunAll}})
		return Answer{Err: withoutURL(err), Warnings: heard.texts}
	case err != nil:
		return Answer{Err: withoutURL(err)}
	case setOf(there) != setOf(object):
		return Answer{Exists: true}
	default:
		_, err = all.Apply(ctx, object.GetName(), withoutGenerated(object),
			metav1.ApplyOptions{FieldManager: identity.ObjectManager, Force: true, DryRun: []string{metav1.DryRunAll}})
		return Answer{Err: withoutURL(err), Warnings: heard.texts, Exists: true}
	}
}

// setOf is the name of the set in the owner annotation of an object.
func setOf(object metav1.Object) string {
	name, _, _ := strings.Cut(object.GetAnnotations()[v1.OwnerAnnotation], "/")
	return name
}

// withoutGenerated returns an object for an apply, without the placeholders of values that are
// generated only once.
func withoutGenerated(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return object
	}
	applied := object.DeepCopy()
	delete(applied.Object, "data")
	return applied
}

type warningsKey struct{}

// contextWarnings records the warnings of a request in its context.
type contextWarnings struct{}

// HandleWarningHeaderWithContext passes a warning to the list in the context.
func (contextWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	if heard, ok := ctx.Value(warningsKey{}).(*warningList); ok {
		heard.HandleWarningHeaderWithContext(ctx, code, agent, text)
	}
}
