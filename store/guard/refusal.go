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

// refusal is why nothing is served from a store, in one paragraph that says what
// was found and what can be done. It names no object of the cluster, because
// users read it who may not know of them; examples does.
type refusal struct {
	noted anchor
	seen  observation
	// owners are all sets that anything in the host belongs to, and missing those
	// of them that are not in the store, which has as many sets as stored says.
	owners  map[dependents.SetID]dependents.Owner
	missing []dependents.Owner
	stored  int
	advice  Advice
	at      time.Time
}

// Advice is what the commands in a refusal are made of.
type Advice struct {
	Namespace  string // of the anchor
	Kubeconfig string // empty in a pod
	DataDir    string // empty with an external etcd
	Etcd       []string
}

func (r *refusal) Error() string {
	return strings.Join([]string{
		"The store of this server is not the one that the cluster knows, so nothing of group apps.statefulset.dev is served.",
		r.found(), r.atStake(),
		"As long as every request is answered with 503 nothing is deleted; pods keep running, and nobody controls them. An operator has to choose one of three.",
		r.restore(), r.rebuild(), r.accept(),
	}, " ")
}

// found says what is wrong with the store.
func (r *refusal) found() string {
	here := fmt.Sprintf("store %s, marked last at revision %d, with %s", r.seen.Store, r.seen.Marked, count(r.stored, "set"))
	switch {
	case r.noted.Blank():
		return fmt.Sprintf(
			"Found: %s; the cluster has no note of any store. If there never was a set here, somebody has made objects that look like members; the log names some.", here)
	case r.noted.store != r.seen.Store:
		return fmt.Sprintf("Found: %s; the cluster knows store %s, which had come to revision %d.", here, r.noted.store, r.noted.Revision)
	case r.seen.Marked < r.noted.Revision:
		return fmt.Sprintf("Found: an older copy of the right store: %s; the cluster knows that it had come to revision %d.", here,
			r.noted.Revision)
	}
	return fmt.Sprintf(
		"Found: another copy of the right store, or one restored from a backup: %s; it does not hold the mark that the cluster noted at revision %d. "+
			"It may also be the right store, if the cluster was restored to an earlier state or its note was edited: then accept it.", here,
		r.noted.Revision)
}

// atStake says what would be deleted.
func (r *refusal) atStake() string {
	all := fmt.Sprintf("The cluster has %s.", objectsOf(ownersOf(r.owners)))
	if len(r.missing) == 0 {
		return all + " This store has all of these sets, but maybe in an earlier state, and going back to that may remove members and claims."
	}
	return fmt.Sprintf("%s %s of them %s not in this store: if it were served, the cluster's garbage collector would delete their %s.",
		all, count(len(r.missing), "set"), isOrAre(len(r.missing)), objectsBelonging(r.missing))
}

func (r *refusal) restore() string {
	if r.advice.DataDir == "" {
		return fmt.Sprintf(
			"(1) Put the right store back: let --etcd-servers (now %s) lead to it, or restore it from a backup made with `etcdctl snapshot save`; then restart this server.",
			strings.Join(r.advice.Etcd, ","))
	}
	return fmt.Sprintf(
		"(1) Put the right store back: stop this server, and start it with the --data-dir that it had before (now %s), or with one made from a backup by `statefulset-apiserver store restore --from=BACKUP --data-dir=NEW_DIRECTORY`.",
		r.advice.DataDir)
}

func (r *refusal) rebuild() string {
	return fmt.Sprintf(
		"(2) Make the missing sets again from what the cluster still has: stop this server, look at what `statefulset-apiserver store rebuild %s --dry-run` prints, and run it without --dry-run.", r.advice.flags())
}

func (r *refusal) accept() string {
	cost := "going back to an earlier state of the sets"
	if len(r.missing) > 0 {
		cost = "the deletion of the " + objectsBelonging(r.missing)
	}
	return fmt.Sprintf(
		"(3) Accept this store, and with it %s: `kubectl --namespace=%s annotate --overwrite configmap %s %s=%s`; this server then goes on by itself.",
		cost, r.advice.Namespace, AnchorName, acceptAnnotation, r.seen.Name())
}

// flags are those of the server that lead to its store and its host.
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

// examples are names of sets that are not in the store, for the log.
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

// stillHolds reports whether a refusal needs no second look.
func (r *refusal) stillHolds(noted anchor, seen observation) bool {
	return r != nil && time.Since(r.at) < assessInterval && r.seen.record == seen.record &&
		r.noted.store == noted.store && r.noted.Mark == noted.Mark && r.noted.Accepted == noted.Accepted
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
