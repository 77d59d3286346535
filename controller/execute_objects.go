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

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/hostread"
	"statefulset.dev/controller/plan"
)

// createObject creates an object, and never touches one that is there: whose that is, is for the
// planner to judge.
func (e *execution) createObject(ctx context.Context, action plan.CreateObject) error {
	what, kind := objectSubject(action.Object), action.Object.GroupVersionKind().GroupKind()
	_, objects, err := e.objectsAt(action.Object)
	if err != nil {
		return err
	}
	if err := e.confirmUngiven(ctx, action); err != nil {
		return err
	}
	err = e.do(ctx, create, what, func(ctx context.Context) error {
		made, err := post(discreet(ctx, action.Object.GroupVersionKind()), objects, action)
		if apierrors.IsAlreadyExists(err) {
			e.memory.of(e.key).noteTaken(takenName{kind, action.Object.GetName()})
		}
		if err != nil {
			return err //nolint:wrapcheck // do says what was tried
		}
		e.memory.of(e.key).wroteObject(kind, made, writtenObject{})
		return nil
	})
	if err == nil {
		e.tellSuccess(create, what)
	}
	return err
}

// post sends a new object. What is to be drawn for it is drawn now: if there is one already, or the
// request has come through unseen, the texts are nobody's.
func post(ctx context.Context, objects dynamic.ResourceInterface, action plan.CreateObject) (*unstructured.Unstructured, error) {
	if len(action.Generate) == 0 {
		return objects.Create(ctx, action.Object, metav1.CreateOptions{FieldManager: objectManager}) //nolint:wrapcheck // do says what was tried
	}
	texts := draw(action.Generate)
	made, err := objects.Create(ctx, texts.into(action.Object), metav1.CreateOptions{FieldManager: generateManager})
	return made, texts.hush(err)
}

// applyObject changes exactly the object that was decided on. With its UID an apply cannot create
// one. What was written by creating it is taken over first, or fields that the template has no more
// would stay.
func (e *execution) applyObject(ctx context.Context, action plan.ApplyObject) error {
	what, kind := objectSubject(action.Object), action.Object.GroupVersionKind().GroupKind()
	watched, objects, err := e.objectsAt(action.Object)
	if err != nil {
		return err
	}
	defer e.memory.of(e.key).takenChanged(takenName{kind, action.At.Name})
	version, err := e.takeOver(ctx, watched, action)
	if err != nil {
		return err
	}
	err = e.do(ctx, update, what, func(ctx context.Context) error {
		body := action.Object.DeepCopy()
		body.SetUID(action.At.UID)
		body.SetResourceVersion(version)
		applied, err := objects.Apply(discreet(ctx, action.Object.GroupVersionKind()), action.At.Name, body, metav1.ApplyOptions{FieldManager: objectManager, Force: true})
		if err != nil {
			return err //nolint:wrapcheck // do says what was tried
		}
		e.noteApplied(action, applied, version)
		return nil
	})
	if err == nil {
		e.tellSuccess(update, what)
	}
	return err
}

// takeOver makes the fields that an object was created with those of the manager that applies, and
// returns its resource version then. Each request is begun like a write of its own: the set may have
// changed, or the term be over, since the one before it.
func (e *execution) takeOver(ctx context.Context, kind *objectWatch, action plan.ApplyObject) (version string, err error) {
	about, ok := kind.about(e.set.Namespace)
	if !ok {
		return "", &staleRead{errors.New("the kind is not known any more")}
	}
	what, patch := objectSubject(action.Object), []byte(nil)
	err = e.do(ctx, update, what, func(ctx context.Context) error {
		live, err := hostread.Again(ctx, e.Clock, func(ctx context.Context) (*metav1.PartialObjectMetadata, error) {
			return about.Get(ctx, action.At.Name, metav1.GetOptions{})
		})
		if err != nil {
			return err // do says what was tried
		}
		if live.UID != action.At.UID || live.ResourceVersion != action.At.ResourceVersion {
			return apierrors.NewConflict(schema.GroupResource{Group: kind.kind.Group, Resource: kind.kind.Kind}, action.At.Name, errors.New("it has changed"))
		}
		if patch, err = takeOverPatch(live); err != nil {
			return fmt.Errorf("taking its fields over: %w", err)
		}
		return nil
	})
	if err != nil || patch == nil {
		return action.At.ResourceVersion, err
	}
	err = e.do(ctx, update, what, func(ctx context.Context) error {
		taken, err := about.Patch(ctx, action.At.Name, types.JSONPatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return err //nolint:wrapcheck // do says what was tried
		}
		version = taken.ResourceVersion
		return nil
	})
	return version, err
}

// noteApplied remembers what came of an apply. One that has changed nothing settles the matter,
// whatever the object is like.
func (e *execution) noteApplied(action plan.ApplyObject, applied *unstructured.Unstructured, version string) {
	known, now := e.memory.of(e.key), e.hostNow()
	was := known.written(action.At.UID)
	next := writtenObject{}
	if applied.GetResourceVersion() == version {
		next.settled, next.inputs = version, action.Object.GetAnnotations()[v1.ObjectInputsAnnotation]
	}
	if action.Corrects {
		next.corrections, next.correctedAt = 1, now
		if now.Sub(was.correctedAt) < 2*longestCorrection {
			next.corrections = was.corrections + 1
		}
	}
	known.wroteObject(action.Object.GroupVersionKind().GroupKind(), applied, next)
}

// objectsAt reaches the objects of the kind that an object is of.
func (e *execution) objectsAt(object *unstructured.Unstructured) (*objectWatch, dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	if watched, _ := e.objects.of(kind, e.set.Namespace); watched != nil {
		if at, ok := watched.at(kind.Version); ok {
			return watched, e.Objects.Dynamic.Resource(at).Namespace(e.set.Namespace), nil
		}
	}
	return nil, nil, &staleRead{fmt.Errorf("objects of kind %s cannot be written yet", kind.Kind)}
}

func objectSubject(object *unstructured.Unstructured) subject {
	return subject{kind: object.GetKind(), name: object.GetName()}
}
