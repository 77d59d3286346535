// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"golang.org/x/sync/semaphore"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	genericrequest "k8s.io/apiserver/pkg/endpoints/request"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
)

// Planner computes what the controller does for a set. It changes nothing. neighbours are all
// stored sets of the namespace.
type Planner interface {
	Turns
	Members
	// Current returns what the controller does for a stored set.
	Current(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error)
	// Proposed returns what the controller would do for a set that is not stored, or is stored with
	// another content.
	Proposed(ctx context.Context, set *v1.StatefulSet, neighbours []v1.StatefulSet) (*v1.StatefulSetPlan, error)
}

// PlanREST serves /plan. It shares the store with REST, which destroys it, and never writes to it.
type PlanREST struct {
	store    *genericregistry.Store
	strategy strategy
	planner  Planner
	// shown and proposed are the plans that are being computed.
	shown, proposed *semaphore.Weighted
}

// PlansAtOnce is the maximum number of plans of stored sets that are computed at the same time, and
// also of proposed sets. Each reads a namespace of the host cluster.
const PlansAtOnce = 4

var (
	_ rest.Getter               = &PlanREST{}
	_ rest.NamedCreater         = &PlanREST{}
	_ rest.TableConvertor       = &PlanREST{}
	_ rest.StorageMetadata      = &PlanREST{}
	_ rest.GroupVersionAcceptor = &PlanREST{}
)

// NewPlanREST serves the plans that the planner computes for the sets of a store. It uses the
// generated validation of the API types in scheme.
func NewPlanREST(sets *REST, scheme *runtime.Scheme, planner Planner) *PlanREST {
	return &PlanREST{
		sets.Store, newStrategy(scheme, nil, planner), planner, semaphore.NewWeighted(PlansAtOnce), semaphore.NewWeighted(PlansAtOnce)}
}

// New is an empty set, into which a proposal is decoded.
func (*PlanREST) New() runtime.Object { return &v1.StatefulSet{} }

// Destroy does nothing: REST destroys the shared store.
func (*PlanREST) Destroy() {}

// ProducesMIMETypes adds no types to the default ones.
func (*PlanREST) ProducesMIMETypes(string) []string { return nil }

// ProducesObject declares that the response is a plan, for every request.
func (*PlanREST) ProducesObject(string) any { return v1.StatefulSetPlan{} }

// AcceptsGroupVersion accepts sets, and Scales.
func (*PlanREST) AcceptsGroupVersion(version schema.GroupVersion) bool {
	return version == v1.SchemeGroupVersion || version == autoscalingv1.SchemeGroupVersion
}

// Get returns the plan of the stored set.
func (r *PlanREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	if !r.shown.TryAcquire(1) {
		return nil, TooManyPlans()
	}
	defer r.shown.Release(1)
	set, err := readSet(ctx, r.store, name, options)
	if err != nil {
		return nil, err
	}
	neighbours, err := r.neighbours(ctx)
	if err != nil {
		return nil, err
	}
	return r.planner.Current(ctx, set, neighbours)
}

// TooManyPlans is the error when the maximum number of plans is being computed.
func TooManyPlans() error {
	return apierrors.NewTooManyRequests(fmt.Sprintf("%d other plans are being computed, which is the limit; try again later", PlansAtOnce), 1)
}

// Create returns the plan that a proposed set would lead to. The planner uses the proposal itself,
// which may be large, without a copy. Create may continue for a moment after the response to a
// caller that has disconnected, so it has its own limit.
func (r *PlanREST) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc,
	_ *metav1.CreateOptions) (runtime.Object, error) {
	if !r.proposed.TryAcquire(1) {
		return nil, TooManyPlans()
	}
	defer r.proposed.Release(1)
	proposal, ok := obj.(*v1.StatefulSet)
	if !ok {
		return nil, apierrors.NewBadRequest(
			fmt.Sprintf("expected a StatefulSet, a Scale, a StatefulSetRollout or a StatefulSetReplacement, got %T", obj))
	}
	if proposal.Name != "" && proposal.Name != name {
		return nil, apierrors.NewBadRequest(
			fmt.Sprintf("metadata.name is %q, must be %q or empty: the request is for the plan of that set", proposal.Name, name))
	}
	stored, err := readSet(ctx, r.store, name, &metav1.GetOptions{})
	if err != nil && (isScale(proposal) || !apierrors.IsNotFound(err)) {
		return nil, err
	}
	set, err := r.merged(ctx, name, proposal, stored)
	if err != nil {
		return nil, err
	}
	if admit != nil {
		if err := admit(ctx, set.DeepCopy()); err != nil {
			return nil, err
		}
	}
	neighbours, err := r.neighbours(ctx)
	if err != nil {
		return nil, err
	}
	neighbours = slices.DeleteFunc(neighbours, func(other v1.StatefulSet) bool { return other.UID == set.UID })
	return r.planner.Proposed(ctx, set, append(neighbours, *set))
}

// merged returns the set as it would be stored: as a new one, or instead of the stored one.
func (r *PlanREST) merged(ctx context.Context, name string, proposal, stored *v1.StatefulSet) (*v1.StatefulSet, error) {
	ctx = asWriteOfSet(ctx)
	if stored == nil {
		set := proposal
		set.Name = name
		set.UID, set.CreationTimestamp = uuid.NewUUID(), metav1.Now()
		return set, rest.BeforeCreate(r.strategy, ctx, set)
	}
	if decision := decisionIn(proposal); decision != nil {
		return r.decided(ctx, stored, decision)
	}
	if request := replacementIn(proposal); request != nil {
		return r.asked(ctx, stored, request)
	}
	if isScale(proposal) {
		set := stored.DeepCopy()
		set.Spec.Replicas = proposal.Spec.Replicas
		return set, r.beforeUpdate(ctx, set, stored)
	}
	set := &v1.StatefulSet{TypeMeta: stored.TypeMeta, ObjectMeta: *stored.ObjectMeta.DeepCopy(), Status: *stored.Status.DeepCopy()}
	set.Labels, set.Annotations, set.Spec = proposal.Labels, proposal.Annotations, proposal.Spec
	return set, r.beforeUpdate(ctx, set, stored)
}

// decided returns the set after a decision about its update. It is rejected for the same reasons as
// the decision itself.
func (r *PlanREST) decided(ctx context.Context, stored *v1.StatefulSet, about *v1.StatefulSetRollout) (*v1.StatefulSet, error) {
	if errs := validateDecision(about); len(errs) > 0 {
		return nil, invalidDecision(stored.Name, errs)
	}
	decided, err := newDecisionUpdate(ctx, r.planner, stored, about)
	if err != nil {
		return nil, err
	}
	return decided.apply(ctx, stored)
}

// asked returns the set after a request to replace members. It is rejected for the same reasons as
// the request itself.
func (r *PlanREST) asked(ctx context.Context, stored *v1.StatefulSet, request *v1.StatefulSetReplacement) (*v1.StatefulSet, error) {
	if errs := validateReplacement(request); len(errs) > 0 {
		return nil, invalidReplacement(stored.Name, errs)
	}
	asked, err := newReplacementUpdate(ctx, r.planner, stored, request)
	if err != nil {
		return nil, err
	}
	return asked.apply(ctx, stored)
}

// beforeUpdate returns the error for which a write of the set would be rejected.
func (r *PlanREST) beforeUpdate(ctx context.Context, set, stored *v1.StatefulSet) error {
	if err := rest.BeforeUpdate(r.strategy, ctx, set, stored); err != nil {
		return err
	}
	return refuseEmptying(set, stored)
}

// asWriteOfSet makes the rules for a write of the set itself apply.
func asWriteOfSet(ctx context.Context) context.Context {
	return genericrequest.WithRequestInfo(ctx, &genericrequest.RequestInfo{
		IsResourceRequest: true, APIGroup: v1.GroupName, APIVersion: v1.SchemeGroupVersion.Version, Resource: "statefulsets"})
}

func (r *PlanREST) neighbours(ctx context.Context) ([]v1.StatefulSet, error) {
	obj, err := r.store.List(ctx, &metainternalversion.ListOptions{})
	if err != nil {
		return nil, err
	}
	list, ok := obj.(*v1.StatefulSetList)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSetList, got %T", obj))
	}
	return list.Items, nil
}

// ConvertToTable prints a plan in one line.
func (*PlanREST) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	plan, ok := object.(*v1.StatefulSetPlan)
	if !ok {
		return nil, fmt.Errorf("cannot print %T as a table of plans", object)
	}
	table := &metav1.Table{Rows: []metav1.TableRow{{
		Object: runtime.RawExtension{Object: plan},
		Cells:  []any{plan.Name, string(plan.Outcome), countActions(plan), plan.Message},
	}}}
	if opts, ok := options.(*metav1.TableOptions); !ok || !opts.NoHeaders {
		table.ColumnDefinitions = []metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: "Name of the set."},
			{Name: "Outcome", Type: "string", Description: "How the plan ends."},
			{Name: "Actions", Type: "integer", Description: "Number of actions in the plan."},
			{Name: "Message", Type: "string", Description: "What the plan ends with, or waits for."},
		}
	}
	return table, nil
}

func countActions(plan *v1.StatefulSetPlan) int64 {
	var actions int64
	for _, round := range plan.Rounds {
		for _, step := range round.Steps {
			actions += int64(len(step.Actions))
		}
	}
	return actions
}

// AddProposals registers conversions for requests that can be posted to /plan instead of a set: a
// Scale, a decision about an update, and a request to replace members.
func AddProposals(scheme *runtime.Scheme) error {
	if err := addScaleProposals(scheme); err != nil {
		return err
	}
	if err := scheme.AddConversionFunc((*v1.StatefulSetRollout)(nil), (*v1.StatefulSet)(nil), func(from, to any, _ conversion.Scope) error {
		decision := from.(*v1.StatefulSetRollout)
		return enclose(decision, decision.Name, decision.Namespace, decisionKey, to.(*v1.StatefulSet))
	}); err != nil {
		return err
	}
	return scheme.AddConversionFunc((*v1.StatefulSetReplacement)(nil), (*v1.StatefulSet)(nil), func(from, to any, _ conversion.Scope) error {
		request := from.(*v1.StatefulSetReplacement)
		return enclose(request, request.Name, request.Namespace, replacementKey, to.(*v1.StatefulSet))
	})
}

// decisionKey and replacementKey are the annotation keys with which a proposal contains such a
// request. They are not valid keys, so no set has them.
const (
	decisionKey    = "a decision about an update"
	replacementKey = "a request to replace members"
)

// enclose converts a request to a proposal: a set with the request in an annotation.
func enclose(request any, name, namespace, key string, proposal *v1.StatefulSet) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	*proposal = v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Annotations: map[string]string{key: string(text)}}}
	return nil
}

// decisionIn returns the decision in a proposal, nil if it has none.
func decisionIn(proposal *v1.StatefulSet) *v1.StatefulSetRollout {
	return enclosed[v1.StatefulSetRollout](proposal, decisionKey)
}

// replacementIn returns the request to replace members in a proposal, nil if it has none.
func replacementIn(proposal *v1.StatefulSet) *v1.StatefulSetReplacement {
	return enclosed[v1.StatefulSetReplacement](proposal, replacementKey)
}

func enclosed[T any](proposal *v1.StatefulSet, key string) *T {
	text, ok := proposal.Annotations[key]
	request := new(T)
	if !ok || !isScale(proposal) || json.Unmarshal([]byte(text), request) != nil {
		return nil
	}
	return request
}

// addScaleProposals registers the conversion of a Scale to a set, of which only the replicas count.
func addScaleProposals(scheme *runtime.Scheme) error {
	return scheme.AddConversionFunc((*autoscalingv1.Scale)(nil), (*v1.StatefulSet)(nil), func(from, to any, _ conversion.Scope) error {
		scale, set := from.(*autoscalingv1.Scale), to.(*v1.StatefulSet)
		*set = v1.StatefulSet{ObjectMeta: scale.ObjectMeta, Spec: v1.StatefulSetSpec{Replicas: &scale.Spec.Replicas}}
		return nil
	})
}

// isScale reports whether a proposal was posted as a Scale. A proposal that was posted as a set has
// defaults, and so a policy.
func isScale(proposal *v1.StatefulSet) bool { return proposal.Spec.PodManagementPolicy == "" }
