// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"statefulset.dev/store/dependents"
)

// refusal is why nothing is served from a store, in one paragraph that says what was found and what
// can be done. It names no object of the cluster, because users read it who may not be allowed to
// see them; examples names some.
type refusal struct {
	note storeNote
	seen observation
	// owners are all sets to which an object in the cluster belongs, and missing those that are not
	// in the store. stored is the number of sets in the store.
	owners  map[dependents.SetID]dependents.Owner
	missing []dependents.Owner
	stored  int
	advice  Advice
	at      time.Time
}

// Advice has the parameters of the commands in a refusal.
type Advice struct {
	Namespace  string // of the note
	Kubeconfig string // empty in a pod
	DataDir    string // empty with an external etcd
	Etcd       []string
}

func (r *refusal) Error() string {
	return strings.Join([]string{
		"The store of this server is not the one that the cluster knows, so the API group apps.statefulset.dev is not served.",
		r.found(), r.atStake(),
		"While all requests get 503, nothing is deleted: pods keep running, but no controller manages them. An operator must choose one of three options.",
		r.restore(), r.rebuild(), r.accept(),
	}, " ")
}

// found describes what is wrong with the store.
func (r *refusal) found() string {
	here := fmt.Sprintf("store %s, last marked at revision %d, with %s", r.seen.Store, r.seen.Marked, count(r.stored, "set"))
	switch {
	case r.note.IsBlank():
		return fmt.Sprintf(
			"Found: %s; the cluster has no note about a store. If there never was a set here, a user has created objects that look like members; the log names some of their sets.", here)
	case r.note.store != r.seen.Store:
		return fmt.Sprintf("Found: %s; the cluster knows store %s, last marked at revision %d.", here, r.note.store, r.note.Revision)
	case r.seen.Marked < r.note.Revision:
		return fmt.Sprintf("Found: an older copy of the right store: %s; the cluster knows a later mark, at revision %d.", here,
			r.note.Revision)
	}
	return fmt.Sprintf(
		"Found: another copy of the right store, or one restored from a backup: %s; it does not contain the mark that the cluster recorded at revision %d. "+
			"It may also be the right store, if the cluster was restored to an earlier state or its note was edited; then accept it.", here,
		r.note.Revision)
}

// atStake describes what would be deleted.
func (r *refusal) atStake() string {
	all := fmt.Sprintf("The cluster has %s.", objectsOf(ownersOf(r.owners)))
	if len(r.missing) == 0 {
		return all + " This store has all of these sets, but maybe in an earlier state, and a return to that state may remove members and claims."
	}
	return fmt.Sprintf("%s %s of them %s not in this store: if it were served, the cluster's garbage collector would delete their %s.",
		all, count(len(r.missing), "set"), isOrAre(len(r.missing)), objectsBelonging(r.missing))
}

func (r *refusal) restore() string {
	if r.advice.DataDir == "" {
		return fmt.Sprintf(
			"(1) Use the right store again: point --etcd-servers (now %s) to it, or restore it from a backup made with `etcdctl snapshot save`; then restart this server.",
			strings.Join(r.advice.Etcd, ","))
	}
	return fmt.Sprintf(
		"(1) Use the right store again: stop this server, and start it with its earlier --data-dir (now %s), or with one restored from a backup by `statefulset-apiserver store restore --from=BACKUP --data-dir=NEW_DIRECTORY`.",
		r.advice.DataDir)
}

func (r *refusal) rebuild() string {
	return fmt.Sprintf(
		"(2) Rebuild the missing sets from what the cluster still has: stop this server, check what `statefulset-apiserver store rebuild %s --dry-run` prints, and run it without --dry-run.", r.advice.flags())
}

func (r *refusal) accept() string {
	cost := "the return to an earlier state of the sets"
	if len(r.missing) > 0 {
		cost = "the deletion of the " + objectsBelonging(r.missing)
	}
	return fmt.Sprintf(
		"(3) Accept this store, and with it %s: `kubectl --namespace=%s annotate --overwrite configmap %s %s=%s`; this server then continues by itself.",
		cost, r.advice.Namespace, NoteName, acceptAnnotation, r.seen.Name())
}

// flags are the server's flags for its store and its host cluster.
func (a Advice) flags() string {
	var flags []string
	if a.Kubeconfig != "" {
		flags = append(flags, "--kubeconfig="+a.Kubeconfig)
	}
	if a.DataDir != "" {
		return strings.Join(append(flags, "--data-dir="+a.DataDir), " ")
	}
	return strings.Join(append(flags, "--etcd-servers="+strings.Join(a.Etcd, ",")), " ")
}

// examples are the names of some sets that are not in the store, for the log.
func (r *refusal) examples() []string {
	const some = 5
	if r == nil {
		return nil
	}
	var names []string
	for _, o := range r.missing {
		names = append(names, o.String())
	}
	slices.Sort(names)
	return names[:min(len(names), some)]
}

// stillHolds reports whether a refusal need not be checked again.
func (r *refusal) stillHolds(note storeNote, seen observation) bool {
	return r != nil && time.Since(r.at) < assessInterval && r.seen.record == seen.record &&
		r.note.store == note.store && r.note.Mark == note.Mark && r.note.Accepted == note.Accepted
}

func ownersOf(byUID map[dependents.SetID]dependents.Owner) []dependents.Owner {
	var all []dependents.Owner
	for _, o := range byUID {
		all = append(all, o)
	}
	return all
}

// objectsOf is like "3 pods and 3 claims of 1 set".
func objectsOf(owners []dependents.Owner) string {
	return objectsBelonging(owners) + " of " + count(len(owners), "set")
}

// objectsBelonging is like "3 pods, 3 claims and 1 revision".
func objectsBelonging(owners []dependents.Owner) string {
	total := map[string]int{}
	for _, o := range owners {
		for resource, n := range o.Objects {
			total[resource] += n
		}
	}
	return fmt.Sprintf("%s, %s and %s", count(total[dependents.Pods], "pod"), count(total[dependents.Claims], "claim"),
		count(total[dependents.Revisions], "revision"))
}

func count(n int, what string) string {
	text := fmt.Sprintf("%d %s", n, what)
	if n != 1 {
		text += "s"
	}
	return text
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
