// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"

	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/objects"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// createObject creates an object, and never touches an existing one: the planner decides who owns
// that.
func (e *execution) createObject(ctx context.Context, act action.CreateObject) error {
	what, kind := objectSubject(act.Object), act.Object.GroupVersionKind().GroupKind()
	place, err := e.placeOf(act.Object.GroupVersionKind())
	if err != nil {
		return err
	}
	if err := e.confirmSecretUnrecorded(ctx, act); err != nil {
		return err
	}
	err = e.do(ctx, create, what, func(ctx context.Context) error {
		made, err := post(objects.WithoutSecretLogs(ctx, act.Object.GroupVersionKind()), place.Objects, act)
		if apierrors.IsAlreadyExists(err) {
			e.objectsMemory().AddNameConflict(kind, act.Object.GetName())
		}
		if err != nil {
			return err //nolint:wrapcheck // do says what was tried
		}
		e.objectsMemory().Created(kind, made)
		return nil
	})
	if err == nil {
		e.recordSuccess(create, what)
	}
	return err
}

// post sends a new object. It generates the values of a Secret for this request only. If the Secret
// exists, or if the request succeeded unnoticed, no pod has used the values yet.
func post(ctx context.Context, place dynamic.ResourceInterface, act action.CreateObject) (*unstructured.Unstructured, error) {
	if len(act.Generate) == 0 {
		return place.Create(ctx, act.Object, metav1.CreateOptions{FieldManager: identity.ObjectManager}) //nolint:wrapcheck // do says what was tried
	}
	values := generateValues(act.Generate)
	made, err := place.Create(ctx, values.addedTo(act.Object), metav1.CreateOptions{FieldManager: objects.GenerateManager})
	return made, values.redact(err)
}

// applyObject changes exactly the object that was decided on: with its UID, an apply cannot create
// an object. It first takes over the fields that were set when the object was created. Otherwise
// fields that the template no longer has would stay.
func (e *execution) applyObject(ctx context.Context, act action.ApplyObject) error {
	what, kind := objectSubject(act.Object), act.Object.GroupVersionKind().GroupKind()
	place, err := e.placeOf(act.Object.GroupVersionKind())
	if err != nil {
		return err
	}
	defer e.objectsMemory().NameConflictChanged(kind, act.At.Name)
	version, err := e.takeOver(ctx, place.Metadata, act)
	if err != nil {
		return err
	}
	err = e.do(ctx, update, what, func(ctx context.Context) error {
		body := act.Object.DeepCopy()
		body.SetUID(act.At.UID)
		body.SetResourceVersion(version)
		options := metav1.ApplyOptions{FieldManager: identity.ObjectManager, Force: true}
		applied, err := place.Objects.Apply(objects.WithoutSecretLogs(ctx, act.Object.GroupVersionKind()), act.At.Name, body, options)
		if err != nil {
			return err //nolint:wrapcheck // do says what was tried
		}
		e.objectsMemory().Applied(act, applied, version, e.term.config.hostNow())
		return nil
	})
	if err == nil {
		e.recordSuccess(update, what)
	}
	return err
}

// takeOver moves the fields that an object was created with to the field manager that applies, and
// returns the new resource version. Each request begins like a separate write: since the one
// before, the set may have changed, or the term may have ended.
func (e *execution) takeOver(ctx context.Context, about metadata.ResourceInterface, act action.ApplyObject) (version string, err error) {
	what, kind, patch := objectSubject(act.Object), act.Object.GroupVersionKind(), []byte(nil)
	err = e.do(ctx, update, what, func(ctx context.Context) error {
		live, err := hostread.ReadWithRetry(ctx, e.term.config.Clock, func(ctx context.Context) (*metav1.PartialObjectMetadata, error) {
			return about.Get(ctx, act.At.Name, metav1.GetOptions{})
		})
		if err != nil {
			return err // do says what was tried
		}
		if live.UID != act.At.UID || live.ResourceVersion != act.At.ResourceVersion {
			return apierrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, act.At.Name, errors.New("object has changed"))
		}
		if patch, err = objects.TakeOverPatch(live); err != nil {
			return fmt.Errorf("taking over its fields: %w", err)
		}
		return nil
	})
	if err != nil || patch == nil {
		return act.At.ResourceVersion, err
	}
	err = e.do(ctx, update, what, func(ctx context.Context) error {
		taken, err := about.Patch(ctx, act.At.Name, types.JSONPatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return err //nolint:wrapcheck // do says what was tried
		}
		version = taken.ResourceVersion
		return nil
	})
	return version, err
}

// placeOf returns the client to write objects of a kind.
func (e *execution) placeOf(kind schema.GroupVersionKind) (objects.ObjectClients, error) {
	place, ok := e.term.objectWatcher.ClientsFor(kind, e.set.Namespace)
	if !ok {
		return place, &staleRead{fmt.Errorf("objects of kind %s cannot be written yet", kind.Kind)}
	}
	return place, nil
}

func (e *execution) objectsMemory() *objects.Memory { return &e.term.states.getOrCreate(e.key).objects }

func objectSubject(object *unstructured.Unstructured) subject {
	return subject{kind: object.GetKind(), name: object.GetName()}
}
