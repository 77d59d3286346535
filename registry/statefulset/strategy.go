// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
	"statefulset.dev/identity/conditions"
	"statefulset.dev/identity/render"
)

// strategy contains the rules with which the generic store creates, updates and deletes sets. The
// embedded DeclarativeValidation runs the generated rules.
type strategy struct {
	rest.DeclarativeValidation
	names.NameGenerator
	cluster Cluster // nil if it is not known
	turns   Turns   // nil if there is no limit
	records *recorder
}

// Turns limits how many requests compute at the same time.
type Turns interface {
	// Turn waits for a turn, which lasts until end is called. It fails if the context ends before.
	Turn(ctx context.Context) (end func(), err error)
}

var (
	_ rest.RESTCreateStrategy              = strategy{}
	_ rest.RESTUpdateStrategy              = strategy{}
	_ rest.GarbageCollectionDeleteStrategy = strategy{}
	_ rest.ResetFieldsStrategy             = strategy{}
)

func newStrategy(scheme *runtime.Scheme, cluster Cluster, turns Turns) strategy {
	return strategy{rest.DeclarativeValidation{Scheme: scheme}, names.SimpleNameGenerator, cluster, turns, &recorder{}}
}

func (strategy) NamespaceScoped() bool { return true }

// DefaultGarbageCollectionPolicy makes a delete request without a propagation policy remove the
// pods, too, in the background.
func (strategy) DefaultGarbageCollectionPolicy(context.Context) rest.GarbageCollectionPolicy {
	return rest.DeleteDependents
}

// GetResetFields returns the fields that a write to this endpoint cannot change, so that
// server-side apply gives no ownership of them.
func (strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return resetFields("status")
}

func resetFields(name string) map[fieldpath.APIVersion]*fieldpath.Set {
	version := fieldpath.APIVersion(v1.SchemeGroupVersion.String())
	return map[fieldpath.APIVersion]*fieldpath.Set{
		version: fieldpath.NewSet(fieldpath.MakePathOrDie(name)),
	}
}

// PrepareForCreate drops the status that the client sent. A client that reads the set before the
// controller syncs it must not take empty counters for a completed set, so the new status says that
// nothing is known yet.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	set := obj.(*v1.StatefulSet)
	set.Generation = 1
	pending := conditions.Condition{
		Status: corev1.ConditionUnknown, Reason: v1.ReasonPending, Message: "The controller has not synced this set yet."}
	set.Status = v1.StatefulSetStatus{Conditions: conditions.Conditions{Ready: pending}.Put(nil, time.Now())}
}

// PrepareForUpdate keeps the status, and increases the generation if the spec changes. It records
// in the status which object templates were removed, and who restarted the set or released its
// evaluation.
func (s strategy) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	set, oldSet := obj.(*v1.StatefulSet), old.(*v1.StatefulSet)
	set.Status = oldSet.Status
	if !equality.Semantic.DeepEqual(oldSet.Spec, set.Spec) {
		set.Generation = oldSet.Generation + 1
		identity.RecordRemovedTemplates(set, oldSet, metav1.Now())
	}
	s.records.recordUpdate(ctx, set, oldSet)
}

func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	set := obj.(*v1.StatefulSet)
	return s.inTurn(ctx, set, func(within *render.Evaluation) field.ErrorList { return Validate(within, set) })
}

func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	set, oldSet := obj.(*v1.StatefulSet), old.(*v1.StatefulSet)
	return s.inTurn(ctx, set, func(within *render.Evaluation) field.ErrorList { return ValidateUpdate(within, set, oldSet) })
}

// inTurn validates a set. If the set has expressions, it waits for a turn, because compiling and
// evaluating them uses the processor. It stops when the request ends.
func (s strategy) inTurn(ctx context.Context, set *v1.StatefulSet, validate func(*render.Evaluation) field.ErrorList) field.ErrorList {
	if s.turns == nil || set.Spec.Identity == nil && len(set.Spec.ObjectTemplates) == 0 {
		return validate(render.Within(ctx))
	}
	end, err := s.turns.Turn(ctx)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec"), fmt.Errorf("the set was not validated: %w", err))}
	}
	defer end()
	return validate(render.Within(ctx))
}

// WarningsOnCreate returns warnings about the whole set.
func (s strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return warnings(ctx, obj.(*v1.StatefulSet), nil, s.cluster)
}

// WarningsOnUpdate returns warnings about changes, and about problems that remain.
func (s strategy) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return warnings(ctx, obj.(*v1.StatefulSet), old.(*v1.StatefulSet), s.cluster)
}

// AllowCreateOnUpdate prevents PUT from creating a set, as in apps/v1.
func (strategy) AllowCreateOnUpdate(context.Context) bool { return false }

// AllowUnconditionalUpdate allows PUT without a resourceVersion.
func (strategy) AllowUnconditionalUpdate(context.Context) bool { return true }

func (strategy) Canonicalize(runtime.Object) {}
