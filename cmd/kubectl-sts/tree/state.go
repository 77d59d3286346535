// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// state is the observed state of a set at one time.
type state struct {
	// set is the last observed version of the set.
	set *v1.StatefulSet
	// gone is true if the set has been deleted since then.
	gone      bool
	revisions []*appsv1.ControllerRevision
	pods      []*corev1.Pod
	claims    []*corev1.PersistentVolumeClaim
	// trouble is why the state may be out of date, empty if it is not.
	trouble string
}

// member is one line of the tree.
type member struct {
	name, phase, readiness, revision, claims, node string
	// health colours the line.
	health health
}

type health int

const (
	fine health = iota
	busy
	broken
)

// mostMissing limits how many members without a pod have a line of their own.
const mostMissing = 500

// members returns the desired members in order, and then the surplus pods. unseen is how many
// desired members without a pod are omitted.
func (s state) members() (rows []member, unseen int) {
	pods := map[int]*corev1.Pod{}
	for _, pod := range s.pods {
		_, ordinal, _ := identity.ParsePodName(pod.Name)
		pods[ordinal] = pod
	}
	claims := map[string]*corev1.PersistentVolumeClaim{}
	for _, claim := range s.claims {
		claims[claim.Name] = claim
	}
	roster, overrides := identity.OrdinalsOf(s.set), identity.OverridesOf(s.set)
	ordinals, unseen := ordinals(pods, roster)
	for _, ordinal := range ordinals {
		row := s.describe(ordinal, pods[ordinal], roster.Contains(ordinal))
		row.revision += overrideWord(overrides, ordinal, pods[ordinal])
		row.claims = s.claimsOf(ordinal, claims)
		rows = append(rows, row)
	}
	return rows, unseen
}

// ordinals returns the ordinals of the members that have a line of their own.
func ordinals(pods map[int]*corev1.Pod, roster identity.Ordinals) (shown []int, unseen int) {
	unseen = roster.Len()
	for ordinal := range pods {
		shown = append(shown, ordinal)
		unseen -= boolToInt(roster.Contains(ordinal))
	}
	missing := 0
	for ordinal := range roster.All() {
		if missing == mostMissing {
			break
		}
		if pods[ordinal] == nil {
			shown = append(shown, ordinal)
			missing++
		}
	}
	slices.SortFunc(shown, func(a, b int) int {
		return cmp.Or(-cmp.Compare(boolToInt(roster.Contains(a)), boolToInt(roster.Contains(b))), cmp.Compare(a, b))
	})
	return shown, unseen - missing
}

func (s state) describe(ordinal int, pod *corev1.Pod, wanted bool) member {
	row := member{name: identity.PodName(s.set.Name, ordinal), phase: "missing", readiness: "-", revision: "-", node: "-", health: broken}
	if pod == nil {
		return row
	}
	row.phase, row.readiness, row.health = phaseOf(pod), "not ready", busy
	if identity.IsReady(pod) {
		row.readiness, row.health = "ready", fine
	}
	if isBroken(pod) {
		row.health = broken
	}
	if note, changes := pod.Annotations[v1.InPlaceAnnotation]; changes {
		row.readiness, row.health = inPlaceWord(note), max(row.health, busy)
	}
	if _, changes := pod.Annotations[v1.InPlaceAnnotation]; !changes && isDraining(pod) {
		row.readiness, row.health = "draining", max(row.health, busy)
	}
	if !wanted {
		row.readiness, row.health = "surplus", busy
	}
	if _, asked := pod.Annotations[v1.DisruptionAnnotation]; asked {
		row.readiness, row.health = "gate pending", max(row.health, busy)
	}
	row.revision = s.revisionWord(pod.Labels[identity.RevisionLabel])
	if pod.Spec.Subdomain != s.set.Spec.ServiceName {
		row.revision += fmt.Sprintf(", service %s", cmp.Or(pod.Spec.Subdomain, "none"))
	}
	if pod.Spec.NodeName != "" {
		row.node = pod.Spec.NodeName
	}
	return row
}

// revisionWord describes the revision of a pod: its hash, and whether it is new or old.
func (s state) revisionWord(name string) string {
	hash := strings.TrimPrefix(name, s.set.Name+"-")
	switch {
	case name == "":
		return "-"
	case name == s.set.Status.UpdateRevision && name != s.set.Status.CurrentRevision:
		return hash + " new"
	case name == s.set.Status.UpdateRevision:
		return hash
	default:
		return hash + " old"
	}
}

// claimsOf returns the phases of the claims of a member, with the names of their templates unless
// all claims are in the same phase.
func (s state) claimsOf(ordinal int, claims map[string]*corev1.PersistentVolumeClaim) string {
	var words, phases []string
	for i := range s.set.Spec.VolumeClaimTemplates {
		template := s.set.Spec.VolumeClaimTemplates[i].Name
		phase := claimPhase(claims[identity.ClaimName(template, s.set.Name, ordinal)])
		words, phases = append(words, template+" "+phase), append(phases, phase)
	}
	if len(slices.Compact(phases)) == 1 {
		return fmt.Sprintf("%d %s", len(words), phases[0])
	}
	return strings.Join(words, ", ")
}

func claimPhase(claim *corev1.PersistentVolumeClaim) string {
	switch {
	case claim == nil:
		return "missing"
	case claim.DeletionTimestamp != nil:
		return "Terminating"
	}
	asked, has := claim.Spec.Resources.Requests.Storage(), claim.Status.Capacity.Storage()
	if !has.IsZero() && has.Cmp(*asked) < 0 {
		return fmt.Sprintf("%s growing to %s", has, asked)
	}
	return string(claim.Status.Phase)
}

// history describes the revisions, with the latest first.
func (s state) history() []string {
	running := map[string]int{}
	for _, pod := range s.pods {
		running[pod.Labels[identity.RevisionLabel]]++
	}
	all := slices.Clone(s.revisions)
	slices.SortFunc(all, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(-cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Name, b.Name))
	})
	var lines []string
	for _, revision := range all {
		line := fmt.Sprintf("%s  #%d", revision.Name, revision.Revision)
		if count := running[revision.Name]; count > 0 {
			line += fmt.Sprintf("  pods: %d", count)
		}
		switch revision.Name {
		case s.set.Status.UpdateRevision:
			line += "  update"
		case s.set.Status.CurrentRevision:
			line += "  current"
		}
		lines = append(lines, line)
	}
	return lines
}

// progress counts the members that are ready, that have the update revision, and both.
func (s state) progress() (ready, updated, finished, wanted int) {
	roster := identity.OrdinalsOf(s.set)
	for _, pod := range s.pods {
		_, ordinal, _ := identity.ParsePodName(pod.Name)
		if !roster.Contains(ordinal) || pod.DeletionTimestamp != nil {
			continue
		}
		isNew := pod.Labels[identity.RevisionLabel] == s.set.Status.UpdateRevision
		ready += boolToInt(identity.IsReady(pod))
		updated += boolToInt(isNew)
		finished += boolToInt(identity.IsReady(pod) && isNew)
	}
	return ready, updated, finished, roster.Len()
}

func boolToInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// waitsFor returns the reason and the message of the condition that describes the set best.
func (s state) waitsFor() (word, message string, level health) {
	if s.gone {
		return "Deleted", "the set has been deleted", broken
	}
	ready := s.condition(v1.StatefulSetReady)
	switch {
	case ready == nil:
		return "Unknown", "the controller has not reported a status yet", busy
	case s.isTrue(v1.StatefulSetStalled):
		stalled := s.condition(v1.StatefulSetStalled)
		return stalled.Reason, stalled.Message, broken
	case ready.Status == corev1.ConditionTrue:
		return ready.Reason, ready.Message, fine
	default:
		return ready.Reason, ready.Message, busy
	}
}

func (s state) isTrue(kind v1.StatefulSetConditionType) bool {
	condition := s.condition(kind)
	return condition != nil && condition.Status == corev1.ConditionTrue
}

func (s state) condition(kind v1.StatefulSetConditionType) *v1.StatefulSetCondition {
	for i := range s.set.Status.Conditions {
		if s.set.Status.Conditions[i].Type == kind {
			return &s.set.Status.Conditions[i]
		}
	}
	return nil
}

// belongs reports whether the set controls an object that the selector selects.
func belongs(object metav1.Object, set *v1.StatefulSet) bool {
	owner := metav1.GetControllerOfNoCopy(object)
	return owner != nil && owner.UID == set.UID
}
