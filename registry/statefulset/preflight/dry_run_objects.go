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

// Resources are those that a host serves for objects of a kind.
type Resources func(ctx context.Context, kind schema.GroupVersionKind) ([]metav1.APIResource, error)

// objectRunner tries objects of any kind, in the name of this server: it makes them later, and nobody
// else has just the rights that takes.
type objectRunner struct {
	about     metadata.Interface
	objects   dynamic.Interface
	resources Resources
}

func newObjectRunner(config *rest.Config, resources Resources) (objectRunner, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the gate limits what is asked at the same time
	config.WarningHandlerWithContext = heardInContext{}
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

// try asks whether an object could be created, or, if the set has it already, be changed to this. One
// that is somebody else's is left alone, and so nothing is asked about it.
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
	ctx = context.WithValue(ctx, heardKey{}, heard)
	there, err := r.about.Resource(resource).Namespace(object.GetNamespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
	switch all := r.objects.Resource(resource).Namespace(object.GetNamespace()); {
	case apierrors.IsNotFound(err):
		_, err = all.Create(ctx, object, metav1.CreateOptions{FieldManager: identity.ObjectManager, DryRun: []string{metav1.DryRunAll}})
		return Answer{Err: withoutURL(err), Warnings: heard.texts}
	case err != nil:
		return Answer{Err: withoutURL(err)}
	case setOf(there) != setOf(object):
		return Answer{There: true}
	default:
		_, err = all.Apply(ctx, object.GetName(), withoutDrawn(object),
			metav1.ApplyOptions{FieldManager: identity.ObjectManager, Force: true, DryRun: []string{metav1.DryRunAll}})
		return Answer{Err: withoutURL(err), Warnings: heard.texts, There: true}
	}
}

// setOf is the name of the set whose object it says that it is.
func setOf(object metav1.Object) string {
	name, _, _ := strings.Cut(object.GetAnnotations()[v1.OwnerAnnotation], "/")
	return name
}

// withoutDrawn is an object as it is applied, without the texts that stand for what is drawn once.
func withoutDrawn(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		return object
	}
	applied := object.DeepCopy()
	delete(applied.Object, "data")
	return applied
}

type heardKey struct{}

// heardInContext hears the warnings of a request for the one who has made it.
type heardInContext struct{}

// HandleWarningHeaderWithContext hands a warning on.
func (heardInContext) HandleWarningHeaderWithContext(ctx context.Context, code int, agent, text string) {
	if heard, ok := ctx.Value(heardKey{}).(*warningList); ok {
		heard.HandleWarningHeaderWithContext(ctx, code, agent, text)
	}
}
