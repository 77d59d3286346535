// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// Members reads the pods of members.
type Members interface {
	// Members reads the pods from the host cluster. It calls report for each desired member with a
	// pod, in ascending order: with the ordinal, the UID and the revision of the pod, and whether
	// the pod serves.
	Members(ctx context.Context, set *v1.StatefulSet, report func(ordinal int, pod types.UID, revision string, serves bool)) error
}

// ReplaceREST serves /replace: requests to replace members. It records in the status which pods to
// remove.
type ReplaceREST struct {
	requestREST[*v1.StatefulSetReplacement]

	members Members
	// asking are the requests that read pods from the host cluster.
	asking *semaphore.Weighted
}

// ReplacementsAtOnce is the maximum number of requests to replace members that are handled at the
// same time. Each reads the pods of a namespace of the host cluster.
const ReplacementsAtOnce = 4

var _ rest.NamedCreater = &ReplaceREST{}

// NewReplaceREST serves requests to replace members of the sets of status. It uses the generated
// validation of the API types in scheme.
func NewReplaceREST(status *StatusREST, scheme *runtime.Scheme, members Members) *ReplaceREST {
	r := &ReplaceREST{members: members, asking: semaphore.NewWeighted(ReplacementsAtOnce)}
	r.requestREST = requestREST[*v1.StatefulSetReplacement]{
		store: requestStore(status, scheme), kind: "StatefulSetReplacement", about: "the request is for members of",
		validate: validateReplacement, invalid: invalidReplacement, look: r.look,
		answer: func(about metav1.ObjectMeta, request *v1.StatefulSetReplacement) runtime.Object {
			return &v1.StatefulSetReplacement{ObjectMeta: about, Ordinals: request.Ordinals, Force: request.Force, LostNode: request.LostNode}
		},
	}
	return r
}

// New is an empty request, into which a request is decoded.
func (*ReplaceREST) New() runtime.Object { return &v1.StatefulSetReplacement{} }

// Create records which pods to replace, if fewer than ReplacementsAtOnce requests are in progress.
func (r *ReplaceREST) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc,
	options *metav1.CreateOptions) (runtime.Object, error) {
	if !r.asking.TryAcquire(1) {
		return nil, apierrors.NewTooManyRequests(
			fmt.Sprintf("%d other requests to replace members are in progress, which is the limit; try again later", ReplacementsAtOnce), 1)
	}
	defer r.asking.Release(1)
	return r.requestREST.Create(ctx, name, obj, admit, options)
}

// look reads the set, to reject a request early, and then the pods of its members.
func (r *ReplaceREST) look(ctx context.Context, name string, request *v1.StatefulSetReplacement) (rest.UpdatedObjectInfo, error) {
	set, err := readSet(ctx, r.store, name, &metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return newReplacementUpdate(ctx, r.members, set, request)
}

// newReplacementUpdate returns the update of a set for a request to replace members. It reads the
// pods of the members.
func newReplacementUpdate(
	ctx context.Context, members Members, set *v1.StatefulSet, request *v1.StatefulSetReplacement,
) (*replacementUpdate, error) {
	asked := &replacementUpdate{request: request, uid: set.UID, pods: map[int]types.UID{}, serve: map[int]bool{}}
	if err := asked.refuse(set); err != nil {
		return nil, err
	}
	err := members.Members(ctx, set, func(ordinal int, pod types.UID, _ string, serves bool) {
		asked.pods[ordinal], asked.serve[ordinal] = pod, serves
	})
	return asked, err
}

// mostUnavailable is the maximum number of unavailable members, and of ranges of members, that a
// message names.
const mostUnavailable = 3

// replacementUpdate changes a stored set to record the pods to replace. It checks the version of
// the set that is about to be written.
type replacementUpdate struct {
	request *v1.StatefulSetReplacement
	// uid is the UID of the set whose pods were read.
	uid types.UID
	// pods are the pods of members, and serve is true for members that serve.
	pods  map[int]types.UID
	serve map[int]bool
}

// Preconditions require that the set is still the one whose pods were read.
func (a *replacementUpdate) Preconditions() *metav1.Preconditions {
	return &metav1.Preconditions{UID: &a.uid}
}

// UpdatedObject returns the set with the pods to replace, in addition to those that it already
// records.
func (a *replacementUpdate) UpdatedObject(ctx context.Context, stored runtime.Object) (runtime.Object, error) {
	set, ok := stored.(*v1.StatefulSet)
	if !ok {
		return nil, apierrors.NewInternalError(fmt.Errorf("expected a StatefulSet, got %T", stored))
	}
	return a.apply(ctx, set)
}

// apply returns the set with the pods to replace.
func (a *replacementUpdate) apply(ctx context.Context, stored *v1.StatefulSet) (*v1.StatefulSet, error) {
	set := stored.DeepCopy()
	if err := a.refuse(set); err != nil {
		return nil, err
	}
	if errs := a.lacking(set); len(errs) > 0 {
		return nil, invalidReplacement(set.Name, errs)
	}
	if names := a.unavailable(set); len(names) > 0 && !a.request.Force {
		return nil, conflict(set, "other members are unavailable: %s; wait until they are available, or use force",
			strings.Join(names, ", "))
	}
	before := len(set.Status.Replacements)
	for _, ordinal := range a.ordinals() {
		set.Status.Replacements = slices.DeleteFunc(set.Status.Replacements, func(r v1.MemberReplacement) bool { return r.Ordinal == ordinal })
		set.Status.Replacements = append(set.Status.Replacements, v1.MemberReplacement{Ordinal: ordinal, PodUID: a.pods[int(ordinal)]})
	}
	if n := len(set.Status.Replacements); n > v1.MostReplacements {
		return nil, conflict(set, "%d members are already being replaced, and at most %d can be replaced at a time; wait until the first ones are back", before,
			v1.MostReplacements)
	}
	recordReplacement(ctx, set, a.request)
	return set, nil
}

// refuse returns the reason why no member of a set can be replaced, nil if members can.
func (a *replacementUpdate) refuse(set *v1.StatefulSet) error {
	if uid := a.request.UID; uid != "" && uid != set.UID {
		return conflict(set, "the request is for the set with UID %s, but the set of this name has UID %s", uid, set.UID)
	}
	if why, held := v1.Held(set); held {
		return conflict(set, "the set is suspended (%q), so none of its members would be replaced: remove annotation %s first", why,
			v1.HoldAnnotation)
	}
	if set.DeletionTimestamp != nil {
		return conflict(set, "the set is being deleted, so none of its members would return")
	}
	return nil
}

// lacking names ordinals that are not members, and members without a pod.
func (a *replacementUpdate) lacking(set *v1.StatefulSet) (errs field.ErrorList) {
	roster := identity.OrdinalsOf(set)
	for i, r := range a.request.Ordinals {
		path := field.NewPath("ordinals").Index(i)
		for ordinal := int(r.First); ordinal <= int(r.End()); ordinal++ {
			name := identity.PodName(set.Name, ordinal)
			switch {
			case !roster.Contains(ordinal):
				errs = append(errs, field.Invalid(path, ordinal, fmt.Sprintf("set %s has no member %s; %s", set.Name, name, membersOf(roster))))
			case a.pods[ordinal] == "":
				errs = append(errs,
					field.Invalid(path, ordinal, fmt.Sprintf("member %s has no pod to replace; the controller creates one without a request", name)))
			}
		}
	}
	return errs
}

// membersOf describes the ordinals of the members.
func membersOf(roster identity.Ordinals) string {
	var texts []string
	for _, r := range roster.Ranges() {
		if len(texts) == mostUnavailable {
			texts = append(texts, "...")
			break
		}
		texts = append(texts, text(r))
	}
	if len(texts) == 0 {
		return "it has no members"
	}
	return "its members are " + strings.Join(texts, ", ")
}

// unavailable names the first members that do not serve, except the members to replace. It visits
// only a few more ordinals than there are pods.
func (a *replacementUpdate) unavailable(set *v1.StatefulSet) (names []string) {
	asked := a.ordinals()
	for ordinal := range identity.OrdinalsOf(set).All() {
		if a.serve[ordinal] || slices.ContainsFunc(asked, func(one int32) bool { return int(one) == ordinal }) {
			continue
		}
		if len(names) == mostUnavailable {
			return append(names, "...")
		}
		names = append(names, identity.PodName(set.Name, ordinal))
	}
	return names
}

// ordinals are the single ordinals of the request. There are few, because validation limits them.
func (a *replacementUpdate) ordinals() (all []int32) {
	for _, r := range a.request.Ordinals {
		for more := range r.End() - r.First + 1 {
			all = append(all, r.First+more)
		}
	}
	return all
}

// validateReplacement requires ranges that do not overlap, with at most MostReplacements ordinals.
func validateReplacement(request *v1.StatefulSetReplacement) field.ErrorList {
	path := field.NewPath("ordinals")
	if node := request.LostNode; node != "" {
		if why := validation.IsDNS1123Subdomain(node); len(why) > 0 {
			return field.ErrorList{field.Invalid(field.NewPath("lostNode"), node, "must be the name of a node: "+strings.Join(why, "; "))}
		}
	}
	if len(request.Ordinals) == 0 {
		return field.ErrorList{field.Required(path, "the ordinals of the members to replace, such as [{first: 2}]")}
	}
	if n := len(request.Ordinals); n > v1.MostReplacements {
		return field.ErrorList{field.TooMany(path, n, v1.MostReplacements)}
	}
	if errs := validateRanges(request.Ordinals, path); len(errs) > 0 {
		return errs
	}
	if n := count(request.Ordinals); n > v1.MostReplacements {
		return field.ErrorList{field.Invalid(path, n, fmt.Sprintf("must be at most %d ordinals", v1.MostReplacements))}
	}
	return nil
}

func invalidReplacement(name string, errs field.ErrorList) error {
	return apierrors.NewInvalid(v1.SchemeGroupVersion.WithKind("StatefulSetReplacement").GroupKind(), name, errs)
}

func conflict(set *v1.StatefulSet, format string, args ...any) error {
	return apierrors.NewConflict(v1.Resource("statefulsets"), set.Name, fmt.Errorf(format, args...))
}
