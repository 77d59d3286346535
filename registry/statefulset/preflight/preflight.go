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
	// patience is how long a write waits for the host's opinion.
	patience = 3 * time.Second
	// mostTrials is how many objects are tried on the host for one write, at the same
	// time: the template, its pod, and the claims of fourteen templates that differ. What
	// overrides make has a bound of its own.
	mostTrials = 16
)

// Host is the cluster in which the members of sets run.
type Host interface {
	// TryCreate asks whether a PodTemplate, a Pod, a PersistentVolumeClaim or an object of a
	// template could be created in the host, as a dry run: nothing comes of it.
	TryCreate(ctx context.Context, object runtime.Object) Answer
}

// ErrBusy is the answer if the host could not be asked in time, because other requests
// had it asked.
var ErrBusy = errors.New("too many other objects are being tried on the host cluster")

// Answer is what the host says of an object that it was asked to try.
type Answer struct {
	// Err says why the object could not be created, or why the host cannot tell. Nil
	// if it could.
	Err error
	// Warnings are those that the host would give to the object's creator.
	Warnings []string
	// There is true if there is such an object, so that it was asked whether that could be changed.
	There bool
}

// Preflight is what is done with a set that is written before it is stored: objects
// as they will be made from it are tried on the host. The zero value does nothing.
type Preflight struct {
	// Host is asked. Nil if nobody is.
	Host Host
	// WarnOnly accepts sets that the host finds invalid, with warnings.
	WarnOnly bool
}

// AfterCreate tries a new set that admission has let through. An admission plugin that
// charges for the set asks for the trials itself; see Trials.
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

// AfterUpdate tries a changed set that admission has let through, if anything of it has
// changed that a pod, a claim or an object is made from. When the store repeats an update, because
// what it had read was old, what it makes of the same set is not tried again.
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

// Trials tries on the host a set that is being admitted, when it is called for the first
// time, and returns why the set is refused.
type Trials func() error

type trialsKey struct{}

func withTrials(ctx context.Context, trials Trials) context.Context {
	return context.WithValue(ctx, trialsKey{}, trials)
}

// TrialsOf are the trials of the request that is being admitted, if it has any. Who
// charges for what it admits calls them before: what is refused must not be charged for.
func TrialsOf(ctx context.Context) (Trials, bool) {
	trials, ok := ctx.Value(trialsKey{}).(Trials)
	return trials, ok
}

// changedTrials are the trials of what is not as it was.
func changedTrials(within *render.Evaluation, set, old *v1.StatefulSet) []trial {
	var trials []trial
	known := old // whose overrides have been tried
	rendersAnew := !equality.Semantic.DeepEqual(set.Spec.Identity, old.Spec.Identity)
	if rendersAnew || !equality.Semantic.DeepEqual(set.Spec.Template, old.Spec.Template) {
		trials, known = append(trials, templateTrials(within, set)...), nil
	}
	if rendersAnew || !equality.Semantic.DeepEqual(set.Spec.VolumeClaimTemplates, old.Spec.VolumeClaimTemplates) {
		trials = append(trials, claimTrials(set)...)
	}
	return slices.Concat(trials, overrideTrials(within, set, known), objectTrials(within, set, old))
}

// try asks the host about all objects at once. It returns an error for a set that
// the host finds invalid; what else it has to say becomes warnings.
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

// bounded are the trials for which there is room, and what is said of the others.
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
