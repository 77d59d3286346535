// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/render"
)

const (
	// patience is the maximum time for which a write waits for the answers of the host cluster.
	patience = 3 * time.Second
	// mostTrials is the maximum number of objects of templates that are tried for one write, at the
	// same time: the pod template, its pod, and the claims of fourteen different claim templates.
	// The pods of overrides have a limit of their own.
	mostTrials = 16
)

// Host is the cluster in which the members of sets run.
type Host interface {
	// TryCreate tries with a dry run whether a PodTemplate, a Pod, a PersistentVolumeClaim or an
	// object of a template could be created in the host cluster. It changes nothing.
	TryCreate(ctx context.Context, object runtime.Object) Answer
}

// ErrBusy is the answer if the object could not be tried in time, because too many other requests
// were tried.
var ErrBusy = errors.New("too many other objects are being tried on the host cluster")

// Answer is the answer of the host cluster for an object.
type Answer struct {
	// Err is the reason why the object could not be created, or why that is not known. It is nil if
	// the object could be created.
	Err error
	// Warnings are the warnings that the host cluster would return to the creator of the object.
	Warnings []string
	// Exists is true if the object exists, so that a change of it was tried.
	Exists bool
}

// Preflight tries a set before it is stored: it sends dry runs with the objects that will be
// rendered from the set to the host cluster. The zero value does nothing.
type Preflight struct {
	// Host is the host cluster. If it is nil, nothing is tried.
	Host Host
	// WarnOnly accepts sets that the host cluster finds invalid, with warnings.
	WarnOnly bool
}

// AfterCreate tries a new set after its admission. An admission plugin that charges for the set
// calls the trials itself; see Trials.
func (p Preflight) AfterCreate(admit rest.ValidateObjectFunc) rest.ValidateObjectFunc {
	if p.Host == nil {
		return admit
	}
	return func(ctx context.Context, obj runtime.Object) error {
		set := obj.(*v1.StatefulSet)
		trials := Trials(sync.OnceValue(func() error {
			within := render.Within(ctx)
			return p.try(ctx, set,
				slices.Concat(templateTrials(within, set), claimTrials(set), overrideTrials(within, set, nil), objectTrials(within, set, nil)))
		}))
		if err := admit(withTrials(ctx, trials), obj); err != nil {
			return err
		}
		return trials()
	}
}

// AfterUpdate tries a changed set after its admission, if an input of its pods, claims or objects
// has changed. When the store repeats an update, because it had read an old version, the same set
// is not tried again.
func (p Preflight) AfterUpdate(admit rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	if p.Host == nil {
		return admit
	}
	var tried *v1.StatefulSet
	var verdict error
	return func(ctx context.Context, obj, old runtime.Object) error {
		if err := admit(ctx, obj, old); err != nil {
			return err
		}
		set := obj.(*v1.StatefulSet)
		within := render.Within(ctx)
		trials := changedTrials(within, set, old.(*v1.StatefulSet))
		if len(trials) > 0 && (tried == nil || len(changedTrials(within, set, tried)) > 0) {
			tried, verdict = set, p.try(ctx, set, trials)
		}
		if len(trials) == 0 {
			return nil
		}
		return verdict
	}
}

// Trials tries a set that is being admitted when it is called for the first time. It returns the
// reason why the set is rejected.
type Trials func() error

type trialsKey struct{}

func withTrials(ctx context.Context, trials Trials) context.Context {
	return context.WithValue(ctx, trialsKey{}, trials)
}

// TrialsOf returns the trials of the request that is being admitted, if it has any. An admission
// plugin that charges for a set calls them first, because a rejected set must not be charged.
func TrialsOf(ctx context.Context) (Trials, bool) {
	trials, ok := ctx.Value(trialsKey{}).(Trials)
	return trials, ok
}

// changedTrials returns the trials of the parts that changed.
func changedTrials(within *render.Evaluation, set, old *v1.StatefulSet) []trial {
	var trials []trial
	known := old // its overrides have been tried
	identityChanged := !equality.Semantic.DeepEqual(set.Spec.Identity, old.Spec.Identity)
	if identityChanged || !equality.Semantic.DeepEqual(set.Spec.Template, old.Spec.Template) {
		trials, known = append(trials, templateTrials(within, set)...), nil
	}
	if identityChanged || !equality.Semantic.DeepEqual(set.Spec.VolumeClaimTemplates, old.Spec.VolumeClaimTemplates) {
		trials = append(trials, claimTrials(set)...)
	}
	return slices.Concat(trials, overrideTrials(within, set, known), objectTrials(within, set, old))
}

// try tries all objects at the same time. It returns an error for a set that the host cluster finds
// invalid. All other answers become warnings.
func (p Preflight) try(ctx context.Context, set *v1.StatefulSet, trials []trial) error {
	asked, left := bounded(trials)
	found := judge(asked, p.ask(ctx, asked))
	if len(found.errs) > 0 && !p.WarnOnly {
		return apierrors.NewInvalid(v1.GroupVersionKind().GroupKind(), set.Name, found.errs)
	}
	for _, text := range append(found.texts(), left...) {
		warning.AddWarning(ctx, "", text)
	}
	return nil
}

// bounded returns the trials within the limits, and warnings about the others.
func bounded(trials []trial) (asked []trial, left []string) {
	of := map[group][]trial{}
	for _, t := range trials {
		of[t.group] = append(of[t.group], t)
	}
	for _, part := range []struct {
		group group
		most  int
		left  func([]trial) []string
	}{{ofTemplate, mostTrials, unasked}, {ofOverride, 2 * mostOverrides, unaskedOf("overrides", mostOverrides)},
		{ofObject, mostObjects, unaskedOf("objects of templates", mostObjects)}} {
		room := min(len(of[part.group]), part.most)
		asked, left = append(asked, of[part.group][:room]...), append(left, part.left(of[part.group][room:])...)
	}
	return asked, left
}

func (p Preflight) ask(ctx context.Context, trials []trial) []Answer {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answers := make([]Answer, len(trials))
	var asking sync.WaitGroup
	for i := range trials {
		asking.Go(func() { answers[i] = p.Host.TryCreate(ctx, trials[i].object) })
	}
	asking.Wait()
	return answers
}
