//go:build faults

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
)

// violation is a promise that was not kept.
type violation struct {
	promise, text string
}

// The promises, by the names that the report uses.
const (
	conditioned  = "unconditioned destructive requests"
	justified    = "members deleted without a reason"
	faithful     = "members not as a revision says"
	inOrder      = "members created out of order"
	available    = "more members down than allowed"
	claimsKept   = "claims deleted or given away against the policy"
	claimsSound  = "members created on claims that are not sound"
	objectsThere = "members created without their objects"
	objectsKept  = "objects deleted, or others' written"
	drawnOnce    = "Secrets drawn anew for data that know the former"
	inTurn       = "members replaced out of turn that the status did not name before"
	onceEach     = "members removed twice for one update"
	calledFor    = "members created that nobody wants, or with a name that nobody gave"
	converged    = "runs that did not converge"
	quiet        = "writes after convergence"
	noLateWrites = "writes begun by a former leader"
	bounded      = "retries beyond bounds"
)

// slack is how much later than its consequences a change of a set may be seen: the two
// come by different watches.
const slack = time.Second

// judged is what the oracles look at: all that happened in the namespace of a run, and
// all that the controller asked the host for there.
type judged struct {
	*run
	records  []record
	requests []entry
}

// judge asks every oracle.
func (r *run) judge(requests []entry) []violation {
	j := judged{r, r.all(), slices.DeleteFunc(requests, entry.unread)}
	var found []violation
	for _, oracle := range []func(judged) []violation{
		unconditioned, unjustified, unfaithful, outOfOrder, unavailable, claimsLost, claimsUnsound, objectsLacking, objectsOfOthers, drawnAgain,
		outOfTurn, twice, uncalled,
	} {
		found = append(found, oracle(j)...)
	}
	if r.unmet != "" {
		found = append(found, violation{converged, r.unmet + r.lately()})
	}
	return found
}

// unconditioned finds deletes without the UID and the version of what was decided on,
// and changes without a version.
func unconditioned(j judged) []violation {
	var found []violation
	for _, e := range j.requests {
		if !slices.Contains([]string{pods, claims, revisions}, e.resource) {
			continue
		}
		var body struct {
			Preconditions metav1.Preconditions `json:"preconditions"`
			Metadata      struct {
				ResourceVersion string `json:"resourceVersion"`
			} `json:"metadata"`
		}
		_ = json.Unmarshal(e.body, &body)
		switch {
		case e.verb == "delete" && (body.Preconditions.UID == nil || body.Preconditions.ResourceVersion == nil):
		case (e.verb == "update" || e.verb == "patch") && body.Metadata.ResourceVersion == "":
		default:
			continue
		}
		found = append(found,
			violation{conditioned, fmt.Sprintf("%s %s %s at %s: got the body %.200s, want the UID and the version that it was decided on",
				e.verb, e.resource, e.name, e.at.Format(time.RFC3339Nano), e.body)})
	}
	return found
}

// unjustified finds pods that the controller deleted although the set, as it was then,
// wanted them. What the garbage collector deletes has an owner that is gone.
func unjustified(j judged) []violation {
	var found []violation
	for _, r := range j.records {
		if r.kind != pods || r.verb != deleting {
			continue
		}
		pod := r.object.(*corev1.Pod)
		if j.requestedEnd(pod) == nil {
			continue
		}
		var wanted []string
		for _, set := range j.setsAround(r.at) {
			if !owns(set, pod) || reason(set, pod) != "" {
				wanted = nil
				break
			}
			wanted = append(wanted, fmt.Sprintf("generation %d wants %s", set.Generation, imageOf(&set.Spec.Template.Spec)))
		}
		if wanted != nil {
			found = append(found, violation{justified, fmt.Sprintf("pod %s, UID %s, phase %s, %s was deleted, but %s",
				pod.Name, pod.UID, pod.Status.Phase, imageOf(&pod.Spec), strings.Join(wanted, " and "))})
		}
	}
	return found
}

// reason is why the set does not want the pod, empty if it does.
func reason(set *v1.StatefulSet, pod *corev1.Pod) string {
	position := slices.Index(scenarios.Wanted(set), ordinalOf(pod.Name))
	switch {
	case position < 0:
		return "condemned"
	case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
		return "finished"
	case (imageOf(&pod.Spec) != imageOf(&set.Spec.Template.Spec) || scenarios.IsOtherwise(set, pod)) && position >= partition(set) &&
		!isPaused(set):
		return "outdated"
	case scenarios.GoesBack(set) && imageOf(&pod.Spec) == imageOf(&set.Spec.Template.Spec):
		return "rolled back"
	default:
		return ""
	}
}

func isPaused(set *v1.StatefulSet) bool {
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	return rolling != nil && rolling.IsPaused()
}

// unfaithful finds pods whose revision was not there when they were created, or says
// something else.
func unfaithful(j judged) []violation {
	var found []violation
	for _, r := range j.records {
		if r.kind != pods || r.verb != created {
			continue
		}
		pod := r.object.(*corev1.Pod)
		name := pod.Labels[appsv1.ControllerRevisionHashLabelKey]
		image := "no such revision"
		for _, earlier := range j.records {
			if earlier.kind == revisions && earlier.object.GetName() == name && earlier.verb == created && earlier.version < r.version {
				image = recordedImage(earlier.object.(*appsv1.ControllerRevision))
			}
		}
		if got := imageOf(&pod.Spec); got != image {
			found = append(found, violation{faithful, fmt.Sprintf("pod %s of revision %q: got %s, want %s", pod.Name, name, got, image)})
		}
	}
	return found
}

// recordedImage is the image that a revision has recorded.
func recordedImage(revision *appsv1.ControllerRevision) string {
	var recorded struct {
		Spec appsv1.StatefulSetSpec `json:"spec"`
	}
	if err := json.Unmarshal(revision.Data.Raw, &recorded); err != nil || len(recorded.Spec.Template.Spec.Containers) == 0 {
		return "unreadable"
	}
	return imageOf(&recorded.Spec.Template.Spec)
}

// requestedEnd is the request by which the controller has ended the pod, nil if there is none.
// One that does not say which pod it means has meant any of the name.
func (j judged) requestedEnd(pod *corev1.Pod) *entry {
	i := slices.IndexFunc(j.requests, func(e entry) bool {
		if e.verb != "delete" || e.resource != pods || e.name != pod.Name || !e.succeeded() {
			return false
		}
		var body metav1.DeleteOptions
		_ = json.Unmarshal(e.body, &body)
		return body.Preconditions == nil || body.Preconditions.UID == nil || *body.Preconditions.UID == pod.UID
	})
	if i < 0 {
		return nil
	}
	return &j.requests[i]
}

// setsAround are the two newest generations of the set at a time, and what was seen
// right after it. A set that is deleted or gone wants nothing, and ends the list.
func (j judged) setsAround(t time.Time) []*v1.StatefulSet {
	var before, after []*v1.StatefulSet
	for _, r := range j.records {
		if r.kind != sets || r.at.After(t.Add(slack)) {
			continue
		}
		set := r.object.(*v1.StatefulSet)
		list := &before
		if r.at.After(t) {
			list = &after
		}
		if n := len(*list); n > 0 && (*list)[n-1].UID == set.UID && (*list)[n-1].Generation == set.Generation {
			(*list)[n-1] = set
			continue
		}
		*list = append(*list, set)
	}
	return append(before[max(0, len(before)-2):], after...)
}

func owns(set *v1.StatefulSet, pod *corev1.Pod) bool {
	controller := metav1.GetControllerOf(pod)
	return controller != nil && controller.UID == set.UID
}

func ordinalOf(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

func partition(set *v1.StatefulSet) int {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		return int(*rolling.Partition)
	}
	return 0
}

func imageOf(spec *corev1.PodSpec) string { return spec.Containers[0].Image }
