// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"statefulset.dev/controller/plan/action"
)

const (
	ownerNote   = "apps.statefulset.dev/owner"
	retiredNote = "apps.statefulset.dev/retired-at"
)

// fateOf is what a claim is in for.
type fateOf int

const (
	// noFate: nothing is noted on the claim, and nothing is to be.
	noFate fateOf = iota
	// returns: a note is on it that is to go.
	returns
	// begins: a note is to be put on it when the status tells of its template.
	begins
	// retires: a note is to be put on it.
	retires
	// waits: it is to be deleted later.
	waits
	// goes: it is to be deleted.
	goes
	// doubted: it would be deleted if the host said when it was dated.
	doubted
)

// afterSeconds is after how long claims of removed members are deleted, and whether they are.
func (f evidence) afterSeconds() (after time.Duration, asked bool) {
	seconds := f.retention().ScaledAfterSeconds
	if seconds == nil {
		return 0, false
	}
	return time.Duration(*seconds) * time.Second, true
}

// fate is what is to become of a claim, and when, if it is to be deleted.
func (f evidence) fate(claim *corev1.PersistentVolumeClaim) (fate fateOf, due time.Time) {
	note, noted := claim.Annotations[retiredNote]
	ordinal, template := -1, ""
	for _, t := range f.Set.Spec.VolumeClaimTemplates {
		if n, err := strconv.Atoi(strings.TrimPrefix(claim.Name, t.Name+"-"+f.Set.Name+"-")); err == nil {
			ordinal, template = n, t.Name
		}
	}
	after, asked := f.afterSeconds()
	_, hasPod := f.pods[f.Set.Name+"-"+strconv.Itoa(ordinal)]
	others := slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return f.former(ref) || !f.ours(ref) && *ref.Controller
	})
	switch {
	case template == "", claim.DeletionTimestamp != nil:
		return noFate, due
	case !asked || f.wanted(ordinal) || hasPod:
		if noted {
			return returns, due
		}
		return noFate, due
	case others || f.Rivals[template] != "" || claim.Annotations[ownerNote] != "web/"+string(f.Set.UID):
		return noFate, due
	}
	noteTime, err := time.Parse(time.RFC3339, note)
	since, shown := begun(noteTime, claim)
	switch due = since.Add(after); {
	case err != nil:
		return retires, time.Time{}
	case !shown:
		return doubted, due
	case f.Now.Before(due):
		return waits, due
	default:
		return goes, due
	}
}

// undisturbed reports whether the plan decides about what is beside the members.
func (j *judged) undisturbed() bool {
	return !j.undecided() && j.Set.DeletionTimestamp == nil && !j.builtinAlive() &&
		len(planned[action.AdoptPod](j))+len(planned[action.AdoptRevision](j)) == 0
}

// reclaims: a claim is deleted when the set asks for it, its member has been away for as long as
// it says, and it is the set's; since when is noted on it in time, and taken off when the member
// is back. No member is created before that.
func (j *judged) reclaims() {
	want := map[fateOf][]string{}
	for _, name := range slices.Sorted(maps.Keys(j.claims)) {
		fate, _ := j.fate(j.claims[name])
		want[fate] = append(want[fate], name)
	}
	got := map[fateOf][]string{}
	for _, act := range planned[action.DeleteClaim](j) {
		got[goes] = append(got[goes], act.Claim.Name)
	}
	for _, act := range planned[action.MarkClaim](j) {
		value, noted := act.Annotations[retiredNote]
		switch {
		case noted && value == nil:
			got[returns] = append(got[returns], act.Claim.Name)
		case noted:
			got[retires] = append(got[retires], act.Claim.Name)
			if at, err := time.Parse(time.RFC3339, *value); err != nil || at.Before(j.Now) || at.Sub(j.Now) >= time.Second {
				j.broke("retired since", "claim %s is noted to be retired at %s, and it is %s", act.Claim.Name, *value, j.Now)
			}
		default:
			j.ownedNow(act)
		}
	}
	for fate, rule := range map[fateOf]string{goes: "reclaim", returns: "returns", retires: "retires"} {
		slices.Sort(got[fate])
		for _, name := range got[fate] {
			if !slices.Contains(want[fate], name) {
				j.broke(rule, "claim %s, with the annotations %v, is what the plan does that about, and should not be", name,
					j.claims[name].Annotations)
			}
		}
		if missing := !slices.Equal(got[fate], want[fate]); missing && j.undisturbed() && len(want[fate]) <= 16 && !j.changesClaims() {
			j.broke(rule, "the claims %v are seen to, want %v", got[fate], want[fate])
		}
	}
	if n := len(got[goes]); n > 16 {
		j.broke("reclaim", "%d claims are deleted at once", n)
	}
	for _, act := range planned[action.CreateMember](j) {
		for _, template := range j.Set.Spec.VolumeClaimTemplates {
			if claim := j.claims[j.claimName(template.Name, act.Ordinal)]; claim != nil && claim.Annotations[retiredNote] != "" {
				j.broke("returns first", "%s although claim %s is to be deleted", act, claim.Name)
			}
		}
	}
	j.ownedFirst()
	j.toldReclaims()
}

// changesClaims reports whether claims are changed otherwise.
func (j *judged) changesClaims() bool {
	return len(planned[action.UpdateClaim](j))+len(planned[action.SetClaimOwners](j)) > 0
}

// ownedNow: a claim is noted to be the set's while a pod of its member mounts it.
func (j *judged) ownedNow(act action.MarkClaim) {
	if act.As == action.ClaimUsesSecrets {
		return // which is seen elsewhere
	}
	claim, pod := j.claims[act.Claim.Name], j.member(act.Ordinal)
	value := act.Annotations[ownerNote]
	_, asked := j.afterSeconds()
	switch {
	case !asked || claim == nil || value == nil || *value != "web/"+string(j.Set.UID):
		j.broke("owned", "%s, with %v", act, act.Annotations)
	case pod == nil || !slices.Contains(mounts(pod), claim.Name):
		j.broke("owned", "%s, which no pod of member %d mounts", act, act.Ordinal)
	case slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool { return !j.ours(ref) && *ref.Controller }):
		j.broke("owned", "%s, which somebody else controls", act)
	case claim.Annotations[ownerNote] == *value:
		j.broke("idle write", "%s, which is so noted", act)
	}
}

// lacksNote reports whether a claim is to say whose it is, because a pod mounts it, and does not.
func (f evidence) lacksNote(claim *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	_, asked := f.afterSeconds()
	others := slices.ContainsFunc(claim.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return f.former(ref) || !f.ours(ref) && *ref.Controller
	})
	return asked && pod != nil && f.mine(pod) && claim.DeletionTimestamp == nil && !others && slices.Contains(mounts(pod), claim.Name) &&
		claim.Annotations[ownerNote] != "web/"+string(f.Set.UID)
}

// ownedFirst: a member goes only when its claims say whose they are.
func (j *judged) ownedFirst() {
	for _, act := range planned[action.DeletePod](j) {
		if act.Reason != action.DeleteForScaleDown {
			continue
		}
		for _, template := range j.Set.Spec.VolumeClaimTemplates {
			claim := j.claims[j.claimName(template.Name, act.Ordinal)]
			if claim != nil && j.Rivals[template.Name] == "" && j.lacksNote(claim, j.pods[act.Pod.Name]) {
				j.broke("owned first", "%s before claim %s says whose it is", act, claim.Name)
			}
		}
	}
}

// toldReclaims: the status tells what is due when.
func (j *judged) toldReclaims() {
	want := map[int]time.Time{}
	for _, claim := range j.claims {
		if fate, due := j.fate(claim); fate == waits || fate == goes || fate == doubted {
			_, ordinal, _ := strings.Cut(claim.Name, "-"+j.Set.Name+"-")
			if n, _ := strconv.Atoi(ordinal); want[n].Before(due) {
				want[n] = due
			}
		}
	}
	got := map[int]time.Time{}
	for _, r := range j.plan.Status.Reclaims {
		for ordinal := r.First; ordinal == r.First || r.Last != nil && ordinal <= *r.Last; ordinal++ {
			if got[int(ordinal)].Before(r.DueTime.Time) {
				got[int(ordinal)] = r.DueTime.Time
			}
		}
	}
	if !maps.EqualFunc(got, want, time.Time.Equal) {
		j.broke("due", "the status says that %v are due, want %v", j.plan.Status.Reclaims, want)
	}
	_, asked := j.afterSeconds()
	if !asked && j.plan.Status.Reclaims != nil {
		j.broke("due", "the status says that %v are due, and none is to be deleted", j.plan.Status.Reclaims)
	}
}
