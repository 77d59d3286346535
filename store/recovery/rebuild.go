// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/store/backend"
	"statefulset.dev/store/guard"
)

// Host is the cluster from which the sets are rebuilt.
type Host struct {
	Client kubernetes.Interface
	// NoteNamespace is the namespace of the note about the store.
	NoteNamespace string
}

// Server handles sets as a server does, while none is running.
type Server struct {
	// Open opens the sets of a store.
	Open func(*backend.Options) (Sets, error)
	// Complete sets the defaults of a lost set, and returns what is invalid in it.
	Complete func(*v1.StatefulSet) field.ErrorList
}

// Sets are the sets of a store.
type Sets interface {
	// All are the sets of all namespaces.
	All(ctx context.Context) ([]v1.StatefulSet, error)
	// Put stores a set unchanged.
	Put(ctx context.Context, set *v1.StatefulSet) error
	// Destroy ends the use of the store.
	Destroy()
}

// Rebuild rebuilds the sets to which objects of the host cluster belong, and that are not in the
// store, with their names and UIDs, so that the garbage collector finds them. No server may use the
// store. The sets, and what was guessed, are written to out as manifests with comments; with dryRun
// nothing else happens.
//
// If every missing set could be rebuilt, the store is recorded in the host cluster as the right
// one. Otherwise an operator must still accept it.
func Rebuild(ctx context.Context, o *backend.Options, server Server, from Host, dryRun bool, out, messages io.Writer) error {
	if err := o.ReceiveTLS(ctx, from.Client.CoreV1().Secrets(from.NoteNamespace), from.NoteNamespace); err != nil {
		return err
	}
	closeStorage, err := o.Open(ctx, func(error) {})
	if err != nil {
		return err
	}
	return errors.Join(rebuild(ctx, o, server, from, dryRun, out, messages), closeStorage())
}

func rebuild(ctx context.Context, o *backend.Options, server Server, from Host, dryRun bool, out, messages io.Writer) error {
	sets, err := server.Open(o)
	if err != nil {
		return err
	}
	defer sets.Destroy()
	etcd, err := o.Client()
	if err != nil {
		return err
	}
	defer etcd.Close()

	anchors := from.Client.CoreV1().ConfigMaps(from.NoteNamespace)
	r := rebuilding{complete: server.Complete, sets: sets, guard: guard.NewOffline(etcd, o.Etcd.StorageConfig.Prefix, anchors)}
	if store, known, err := r.guard.Known(ctx); err != nil {
		return err
	} else if known {
		return fmt.Errorf("store %s is the one that the cluster knows: nothing was lost, and missing sets were deleted", store)
	}
	if err := r.plan(ctx, from.Client); err != nil {
		return err
	}
	if err := r.print(out); err != nil {
		return err
	}
	if dryRun {
		return nil
	}
	return r.store(ctx, messages)
}

// rebuilding is one rebuild of a store.
type rebuilding struct {
	complete func(*v1.StatefulSet) field.ErrorList
	sets     Sets
	guard    guard.Offline

	rebuilt []rebuiltSet
	skipped []skippedSet
}

// skippedSet is a set that cannot be rebuilt, and the reason.
type skippedSet struct {
	leftovers
	why error
}

// plan determines which sets are missing, and how to rebuild them.
func (r *rebuilding) plan(ctx context.Context, host kubernetes.Interface) error {
	stored, err := r.sets.All(ctx)
	if err != nil {
		return err
	}
	found, err := findLeftovers(ctx, host)
	if err != nil {
		return err
	}
	for _, f := range found {
		switch rival := sameName(stored, f); {
		case rival == nil:
		case rival.UID == f.uid:
			continue
		default:
			r.skipped = append(r.skipped, skippedSet{f, fmt.Errorf("the store has a set with this name and another UID, %s", rival.UID)})
			continue
		}
		rebuilt, err := r.check(f.rebuild())
		if err != nil {
			r.skipped = append(r.skipped, skippedSet{f, err})
			continue
		}
		r.rebuilt = append(r.rebuilt, rebuilt)
	}
	return nil
}

func sameName(sets []v1.StatefulSet, f leftovers) *v1.StatefulSet {
	for i := range sets {
		if sets[i].Namespace == f.namespace && sets[i].Name == f.name {
			return &sets[i]
		}
	}
	return nil
}

// check verifies that the server would have accepted the set from a user.
func (r *rebuilding) check(rebuilt rebuiltSet, err error) (rebuiltSet, error) {
	if err != nil {
		return rebuilt, err
	}
	if errs := r.complete(rebuilt.set); len(errs) > 0 {
		return rebuilt, fmt.Errorf("its remains do not form a valid set: %w", errs.ToAggregate())
	}
	return rebuilt, nil
}

// print writes one document for each set.
func (r *rebuilding) print(out io.Writer) error {
	for _, s := range r.skipped {
		if _, err := fmt.Fprintf(out, "# Not rebuilt: %s/%s, UID %s: %v\n", s.namespace, s.name, s.uid, s.why); err != nil {
			return err
		}
	}
	for _, rebuilt := range r.rebuilt {
		content, err := yaml.Marshal(rebuilt.set)
		if err != nil {
			return fmt.Errorf("encoding set %s/%s: %w", rebuilt.set.Namespace, rebuilt.set.Name, err)
		}
		if _, err := fmt.Fprintf(out, "---\n# Rebuilt: %s/%s\n", rebuilt.set.Namespace, rebuilt.set.Name); err != nil {
			return err
		}
		for _, guess := range rebuilt.guesses {
			if _, err := fmt.Fprintf(out, "# Guessed: %s\n", guess); err != nil {
				return err
			}
		}
		if _, err := out.Write(content); err != nil {
			return err
		}
	}
	return nil
}

// store writes the sets, and records the store in the host cluster if no set was skipped.
func (r *rebuilding) store(ctx context.Context, messages io.Writer) error {
	for _, rebuilt := range r.rebuilt {
		if err := r.sets.Put(ctx, rebuilt.set); err != nil {
			return err
		}
	}
	all := len(r.skipped) == 0
	adopt := ""
	if all {
		adopt = "all missing sets were rebuilt"
	}
	if err := r.guard.Renew(ctx, adopt); err != nil {
		return err
	}
	done := fmt.Sprintf("rebuilt %s; each is suspended by the annotation %s until you remove it", countSets(len(r.rebuilt)), v1.HoldAnnotation)
	if !all {
		done += fmt.Sprintf("; %s could not be rebuilt, so the server refuses the store until you accept it with the command that it prints",
			countSets(len(r.skipped)))
	} else {
		done += "; start the server"
	}
	_, err := fmt.Fprintln(messages, done)
	return err
}

func countSets(n int) string {
	if n == 1 {
		return "1 set"
	}
	return fmt.Sprintf("%d sets", n)
}
