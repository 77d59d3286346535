// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package members

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/retry"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/utils/ptr"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/client/clientset/versioned"
	"statefulset.dev/cmd/kubectl-sts/target"
)

// teardown removes the members of sets in order, and then the sets.
type teardown struct {
	sets versioned.Interface
	// objects reads the metadata of pods and claims, which is sufficient.
	objects   metadata.Interface
	namespace string
	out       io.Writer

	dryRun        cmdutil.DryRunStrategy
	propagation   metav1.DeletionPropagation
	ignoreMissing bool
	// patience is the maximum time for each set, 0 for no limit.
	patience time.Duration
}

// run checks all sets before it changes the first.
func (t *teardown) run(ctx context.Context, names []string) error {
	var found []*v1.StatefulSet
	var refusals []error
	for _, name := range names {
		set, err := t.get(ctx, name)
		switch {
		case apierrors.IsNotFound(err) && t.ignoreMissing:
			continue
		case err == nil:
			err = refusal(set)
		}
		if err != nil {
			refusals = append(refusals, err)
		}
		found = append(found, set)
	}
	if len(refusals) > 0 {
		return fmt.Errorf("nothing was changed: %w", errors.Join(refusals...))
	}
	for _, set := range found {
		if err := t.end(ctx, set); err != nil {
			return err
		}
	}
	return nil
}

func (t *teardown) get(ctx context.Context, name string) (*v1.StatefulSet, error) {
	return t.sets.AppsV1().StatefulSets(t.namespace).Get(ctx, name, metav1.GetOptions{})
}

// refusal returns why a set cannot be removed in order, nil if it can. Otherwise the command would
// wait forever for its members, or for the set.
func refusal(set *v1.StatefulSet) error {
	if _, protected := v1.Protected(set); protected {
		return errors.New(v1.ExplainProtection(set))
	}
	if why, held := v1.Held(set); held {
		return fmt.Errorf("set %s/%s is suspended (%q), so its members would stay: first remove annotation %s", set.Namespace, set.Name,
			why, v1.HoldAnnotation)
	}
	if set.DeletionTimestamp != nil {
		return fmt.Errorf("set %s/%s is already being deleted, with or without its members", set.Namespace, set.Name)
	}
	return nil
}

// end removes the members of a set in order, and then the set.
func (t *teardown) end(ctx context.Context, set *v1.StatefulSet) error {
	pods, err := t.pods(ctx, set)
	if err != nil {
		return err
	}
	claims, err := t.claims(ctx)
	if err != nil {
		return err
	}
	t.printf(set, "%d members%s", len(pods), listed(pods))
	for _, text := range claimOutcomesOf(set, pods, claims).texts() {
		t.printf(set, "%s", text)
	}
	set, err = t.empty(ctx, set)
	if err != nil {
		return err
	}
	t.printf(set, "scaled to 0%s", target.DryRunSuffix(t.dryRun))
	switch t.dryRun {
	case cmdutil.DryRunNone:
		if err := t.await(ctx, set, pods); err != nil {
			return err
		}
	case cmdutil.DryRunServer:
		// In a dry run the members still exist, and the set has not changed.
		if err := t.delete(ctx, set, nil); err != nil {
			return fmt.Errorf("deleting set %s/%s: %w", set.Namespace, set.Name, err)
		}
	case cmdutil.DryRunClient:
	}
	fmt.Fprintf(t.out, "statefulset.%s %q deleted from %s namespace%s\n", v1.GroupName, set.Name, set.Namespace, target.DryRunSuffix(t.dryRun))
	return nil
}

// empty scales a set to 0, unless its spec has changed since the command reported its members and
// claims.
func (t *teardown) empty(ctx context.Context, seen *v1.StatefulSet) (*v1.StatefulSet, error) {
	if ptr.Deref(seen.Spec.Replicas, 1) == 0 || t.dryRun == cmdutil.DryRunClient {
		return seen, nil
	}
	options := metav1.PatchOptions{FieldManager: "kubectl-sts", DryRun: target.DryRun(t.dryRun)}
	now := seen
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": now.UID, "resourceVersion": now.ResourceVersion},
			"spec":     map[string]any{"replicas": 0},
		})
		if err != nil {
			return err
		}
		scaled, err := t.sets.AppsV1().StatefulSets(t.namespace).Patch(ctx, seen.Name, types.MergePatchType, patch, options)
		if err == nil {
			now = scaled
		}
		if !apierrors.IsConflict(err) {
			return err
		}
		// Usually only the status has changed.
		again, failed := t.get(ctx, seen.Name)
		switch {
		case failed != nil:
			return failed
		case again.UID != seen.UID || again.Generation != seen.Generation:
			return errors.New("the set has changed in the meantime; check it, and run this again")
		}
		if failed = refusal(again); failed != nil {
			return failed
		}
		now = again
		return err
	})
	if err != nil {
		return seen, fmt.Errorf("scaling set %s/%s to 0: %w", seen.Namespace, seen.Name, err)
	}
	return now, nil
}

// delete deletes the set with this UID, if it still has this version.
func (t *teardown) delete(ctx context.Context, set *v1.StatefulSet, version *string) error {
	options := metav1.DeleteOptions{PropagationPolicy: &t.propagation,
		Preconditions: &metav1.Preconditions{UID: &set.UID, ResourceVersion: version}, DryRun: target.DryRun(t.dryRun)}
	return t.sets.AppsV1().StatefulSets(t.namespace).Delete(ctx, set.Name, options)
}

func (t *teardown) printf(set *v1.StatefulSet, format string, values ...any) {
	fmt.Fprintf(t.out, "statefulset.%s/%s: %s\n", v1.GroupName, set.Name, fmt.Sprintf(format, values...))
}

// listed returns the names after a colon, or nothing if there are none.
func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, ", ")
}
