// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/test/faults/internal/scenarios"
	"statefulset.dev/test/faults/sim/model"
)

// judge finds what was done wrong. It believes nobody: it knows the requests that
// the servers got, the changes that they made, and what was delivered to whom.
type judge struct {
	world  *world
	broken []string
	// reference is where a run without faults ends, empty if that is not asked for.
	reference string
	// events count the changes that were delivered of each resource.
	events map[string]int
	// sets are all versions of the set that there were.
	sets []*v1.StatefulSet
	// down are the members that were taken from service for an update, until their
	// successors are ready, with the generation that the update was for.
	down map[int]int64
	// given are the claims and objects that users have deleted.
	given map[string]bool
	// stray are claims that nobody wanted any more when they were created: the request
	// was under way for a while. Empty as they are, nobody removes them.
	stray map[string]bool
	// dated is when the date at which a claim or an object is retired was last set, by UID.
	dated map[types.UID]time.Time
	// drawn are the texts of Secrets, by name, since they were created.
	drawn map[string]map[string][]byte
	// deposed are replicas that must not begin a write any more.
	deposed map[*replica]bool
	// born are the versions of both servers when each replica started.
	born map[*replica]map[schema.GroupVersionResource]int64
}

func newJudge(w *world) *judge {
	return &judge{
		world: w, events: map[string]int{}, given: map[string]bool{}, stray: map[string]bool{}, dated: map[types.UID]time.Time{},
		drawn: map[string]map[string][]byte{}, down: map[int]int64{}, deposed: map[*replica]bool{},
		born: map[*replica]map[schema.GroupVersionResource]int64{}}
}

// broke notes that a rule was broken.
func (j *judge) broke(rule, format string, args ...any) {
	text := "rule broken: " + rule + ": " + fmt.Sprintf(format, args...)
	j.world.trace("%s", text)
	j.broken = append(j.broken, text)
}

// sent judges a request as soon as a replica has sent it, by what it can know.
func (j *judge) sent(c *call) {
	j.freshStart(c)
	if !c.writes() {
		return
	}
	i := j.read(c)
	for _, rule := range shapeRules {
		if wrong := rule.wrong(j, i); wrong != "" {
			j.broke(rule.name, "%s sends %s: %s", c.by.name, c.Request, wrong)
		}
	}
	if c.Verb == "delete" && c.Resource == model.Pods {
		c.by.view.removing[i.uid] = true
	}
	scenes := c.by.view.scenes()
	if !c.again && c.Resource != model.Sets {
		scenes = slices.DeleteFunc(scenes, func(s scene) bool { return !sameSet(s.set, scenes[0].set) })
	}
	for _, rule := range decisionRules {
		j.judgeDecision(rule, i, scenes)
	}
}

// sameSet reports whether a plan for one may be carried out on the other. Before each
// write it is looked at anew whether the set is still the one that was planned for.
func sameSet(a, b *v1.StatefulSet) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.UID == b.UID && a.Generation == b.Generation && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil)
}

// judgeDecision finds a decision wrong that is wrong in every scene that it may have
// been based on.
func (j *judge) judgeDecision(rule decisionRule, i *intent, scenes []scene) {
	var first string
	for n, s := range scenes {
		wrong := rule.wrong(j, i, s)
		if wrong == "" {
			return
		}
		if n == 0 {
			first = wrong
		}
	}
	j.broke(rule.name, "%s sends %s: %s", i.by.name, i.Request, first)
}

// committed judges what a write did, by what truly is.
func (j *judge) committed(c *call) {
	if c.err == nil {
		j.tookLease(c)
	}
	if c.writes() && c.err == nil && c.Resource == model.Pods {
		j.takenDown(c)
	}
}

// replied notes what the replica learns.
func (j *judge) replied(c *call) {
	v := c.by.view
	switch {
	case c.Verb == "get" && apierrors.IsNotFound(c.err):
		v.read[written{c.Resource, c.Name}] = nil
	case c.err != nil:
		if c.Verb == "delete" {
			delete(v.removing, j.read(c).uid)
		}
	case c.Verb == "get":
		v.read[written{c.Resource, c.Name}] = c.result.(model.Object)
	case c.Verb == "list" && !c.asksForHolders():
		if name, single := c.Single(); single {
			_, objects := model.Items(c.result)
			v.read[written{c.Resource, name}] = nil
			for _, object := range objects {
				v.read[written{c.Resource, name}] = object
			}
			return
		}
		j.listed(c)
	case c.writes():
		write := ownWrite{}
		object, ok := c.result.(model.Object)
		switch {
		case !ok:
			return
		case c.Verb == "delete":
			write.removed = object.GetUID()
		default:
			write.object, write.version = object, versionOf(object)
		}
		v.answered(written{c.Resource, object.GetName()}, write)
	}
}

// delivered notes an event on its way.
func (j *judge) delivered(s *stream, event watch.Event, beginning bool) {
	if !beginning {
		j.events[s.Resource().Resource]++
	}
	s.by.view.deliver(s.Resource(), event, beginning)
	if event.Type == watch.Bookmark {
		j.begins(s.by, s.Resource(), versionOf(event.Object.(model.Object)))
	}
}

// settled notes that everything waits: a replica that waits for no answer has no
// decision under way. It has got over a panic, if there was one.
func (j *judge) settled() {
	for _, r := range j.world.replicas {
		if panicked := r.panicked.Swap(nil); panicked != nil {
			j.broke("nothing panics", "%s logs %s", r.name, *panicked)
		}
		if !slices.ContainsFunc(j.world.calls, func(c *call) bool { return c.by == r && c.decides() }) && !r.pausing() {
			r.view.settled()
			r.rested = r.hostTime.Now()
		}
	}
}

func (j *judge) killed(r *replica) { delete(j.deposed, r) }

// changed judges a change, whoever made it.
func (j *judge) changed(change model.Change) {
	j.noteDate(change)
	switch object := change.Object.(type) {
	case *v1.StatefulSet:
		if change.Type == watch.Deleted {
			object = object.DeepCopy()
			object.DeletionTimestamp = &metav1.Time{}
		}
		j.sets = append(j.sets, object)
	case *corev1.Pod:
		j.backUp(object, change.Type == watch.Deleted)
	case *corev1.Secret:
		j.secretChanges(object, change.Type)
	case *corev1.ConfigMap:
		j.objectChanges(object, change.Type)
	case *corev1.PersistentVolumeClaim:
		if set := j.latest(); change.Type == watch.Added && set != nil && !isWanted(set, ordinalOf(object.Name)) {
			j.stray[object.Name] = true
		}
		if change.Type == watch.Deleted || terminates(change) {
			j.claimGoes(object)
		}
	}
}

// noteDate notes when somebody sets, or changes, since when an object is retired. It goes by the time in
// the cluster, whatever the date is.
func (j *judge) noteDate(change model.Change) {
	date, before := change.Object.GetAnnotations()[v1.RetiredAtAnnotation], ""
	if change.Before != nil {
		before = change.Before.GetAnnotations()[v1.RetiredAtAnnotation]
	}
	if date != before {
		j.dated[change.Object.GetUID()] = time.Now()
	}
}

// staysFor says what is wrong with deleting an object that is to stay for a time after it was retired:
// the cluster's time counts, to a second, which is as exact as it is written.
func (j *judge) staysFor(after time.Duration, object model.Object) string {
	if since := j.dated[object.GetUID()]; time.Since(since) < after-time.Second {
		return fmt.Sprintf("it is to stay for %s after %s, and it is %s", after, since, time.Now())
	}
	return ""
}

// ended judges where the run has come to.
func (j *judge) ended() {
	if len(j.broken) > 0 || len(j.stray) > 0 {
		return
	}
	if j.reference != "" {
		j.claimsGone()
	}
	if got := scenarios.Outcome(j.world.observed()); j.reference != "" && got != j.reference {
		j.broke("every run ends as the one without faults", "it ends with\n%s\nand should with\n%s", got, j.reference)
	}
}
