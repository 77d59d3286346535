// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity"
)

// hashLabel is the label of a revision that holds the hash in its name.
const hashLabel = "controller.kubernetes.io/hash"

// revision is a recorded template, or one about to be recorded.
type revision struct {
	name string
	data []byte
	// template is what was read from data, nil if nobody has needed it.
	template *corev1.PodTemplateSpec
}

// revisions are the recorded templates of the set, the latest last.
type revisions []*appsv1.ControllerRevision

func sortRevisions(all []*appsv1.ControllerRevision) revisions {
	slices.SortFunc(all, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return all
}

func (r revisions) latest() *appsv1.ControllerRevision {
	if len(r) == 0 {
		return nil
	}
	return r[len(r)-1]
}

// next is the number that the next revision gets.
func (r revisions) next() int64 {
	if latest := r.latest(); latest != nil {
		return latest.Revision + 1
	}
	return 1
}

// findRevisions finds the revision of the present template and the one that
// members have until an update reaches them.
func (p *planner) findRevisions(selector labels.Selector) {
	var own []*appsv1.ControllerRevision
	for _, r := range p.Revisions {
		controller := metav1.GetControllerOfNoCopy(r)
		if (controller == nil || controller.UID == p.Set.UID) && selector.Matches(labels.Set(r.Labels)) {
			own = append(own, r)
		}
	}
	p.history = sortRevisions(own)
	if p.Set.Status.CollisionCount != nil {
		p.collisions = *p.Set.Status.CollisionCount
	}
	p.update = p.recorded(revisionData(&p.Set.Spec.Template))
	p.current = p.update
	for _, r := range p.history {
		if r.Name == p.Set.Status.CurrentRevision {
			p.current = &revision{name: r.Name, data: r.Data.Raw}
		}
	}
}

// recorded finds the record of the present template, or says under which name it
// is going to be recorded. A record that differs only in how the template was
// written down (by another release, or before a default was known) is the same
// revision: members are not restarted because of an encoding.
// Of several, the one that members have is preferred, for the same reason; then the
// one that the status names, so that the choice stays; then the one that is the same
// to the letter; then the latest.
func (p *planner) recorded(data []byte) *revision {
	var found *revision
	best := 0
	for i, r := range slices.Backward(p.history) {
		inUse, equal := p.carried[r.Name] > 0, bytes.Equal(r.Data.Raw, data)
		if !equal && (!inUse && i < len(p.history)-1 || !p.sameTemplate(r, data)) {
			continue
		}
		if score := 1 + 4*one(inUse) + 2*one(r.Name == p.Set.Status.UpdateRevision) + one(equal); score > best {
			found, best = &revision{name: r.Name, data: data}, score
		}
	}
	if found != nil {
		return found
	}
	return &revision{name: p.freeName(data), data: data}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// freeName is the name under which a template can be recorded. A record of the
// same template counts as free, whoever it belongs to: the name leads to the right
// data. A record of another one is a collision of hashes.
func (p *planner) freeName(data []byte) string {
	for {
		name := revisionName(p.Set.Name, revisionHash(data, p.collisions))
		taken := slices.IndexFunc(p.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == name })
		if taken < 0 || bytes.Equal(p.Revisions[taken].Data.Raw, data) {
			return name
		}
		p.collisions++
	}
}

// keepRevisions plans what makes the record complete: adopt what an earlier owner
// left, record a new template, and make the present one the latest. It reports
// whether revisions are adopted, on which nothing else can be decided before that
// has been seen.
func (p *planner) keepRevisions() (adopted bool) {
	var actions []Action
	for _, r := range p.history {
		if metav1.GetControllerOfNoCopy(r) == nil {
			actions = append(actions, AdoptRevision{Revision: exact(r)})
		}
	}
	if p.together(actions); len(actions) > 0 {
		return true
	}

	index := slices.IndexFunc(p.history, func(r *appsv1.ControllerRevision) bool { return r.Name == p.update.name })
	known := slices.ContainsFunc(p.Revisions, func(r *appsv1.ControllerRevision) bool { return r.Name == p.update.name })
	switch {
	case index == len(p.history)-1 && index >= 0:
	case index >= 0:
		p.together([]Action{RaiseRevision{Revision: exact(p.history[index]), To: p.history.next()}})
	case !known:
		p.together([]Action{CreateRevision{Revision: p.newRevision()}})
	}
	return false
}

// newRevision is the record of the present template. Its hash label keeps the hash
// that the name would have had without collisions, as apps/v1 has it.
func (p *planner) newRevision() *appsv1.ControllerRevision {
	var before int32
	if p.Set.Status.CollisionCount != nil {
		before = *p.Set.Status.CollisionCount
	}
	r := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Name:            p.update.name,
			Namespace:       p.Set.Namespace,
			Labels:          map[string]string{},
			Annotations:     maps.Clone(p.Set.Annotations),
			OwnerReferences: []metav1.OwnerReference{identity.Owner(p.Set)},
		},
		Data:     runtime.RawExtension{Raw: p.update.data},
		Revision: p.history.next(),
	}
	maps.Copy(r.Labels, p.Set.Spec.Template.Labels)
	r.Labels[hashLabel] = revisionHash(p.update.data, before)
	return r
}

// sameTemplate reports whether a record, read and defaulted by this release, is
// the given template.
func (p *planner) sameTemplate(r *appsv1.ControllerRevision, data []byte) bool {
	template, err := readTemplate(r.Data.Raw)
	if err != nil {
		return false
	}
	restored := &v1.StatefulSet{Spec: v1.StatefulSetSpec{Template: *template}}
	v1.SetObjectDefaults_StatefulSet(restored)
	return bytes.Equal(revisionData(&restored.Spec.Template), data)
}

// templateAt is the template that a member of the given revision is made from.
func (p *planner) templateAt(r *revision) (*corev1.PodTemplateSpec, error) {
	if r.name == p.update.name {
		return &p.Set.Spec.Template, nil
	}
	if r.template != nil {
		return r.template, nil
	}
	var err error
	r.template, err = readTemplate(r.data)
	return r.template, err
}

// revisionData is what a revision records of a template: a strategic merge patch
// that puts the template in place of whatever is there. The bytes are those that
// apps/v1 records, to the letter: the template goes through a generic map, which
// sorts its keys, before it is written out.
func revisionData(template *corev1.PodTemplateSpec) []byte {
	var generic map[string]any
	written, err := json.Marshal(template)
	if err == nil {
		err = json.Unmarshal(written, &generic)
	}
	if err != nil {
		// A template that came off the wire can be written to it.
		panic(fmt.Sprintf("encoding a pod template: %v", err))
	}
	generic["$patch"] = "replace"
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": generic}})
	if err != nil {
		panic(fmt.Sprintf("encoding a pod template: %v", err))
	}
	return data
}

// readTemplate reads back what revisionData has written.
func readTemplate(data []byte) (*corev1.PodTemplateSpec, error) {
	var recorded struct {
		Spec struct {
			Template *corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &recorded); err != nil {
		return nil, fmt.Errorf("reading recorded template: %w", err)
	}
	if recorded.Spec.Template == nil {
		return nil, fmt.Errorf("reading recorded template: spec.template is missing")
	}
	return recorded.Spec.Template, nil
}

func revisionHash(data []byte, collisions int32) string {
	hash := fnv.New32()
	hash.Write(data)
	hash.Write([]byte(strconv.FormatInt(int64(collisions), 10)))
	return rand.SafeEncodeString(strconv.FormatUint(uint64(hash.Sum32()), 10))
}

// revisionName keeps the name within the 253 bytes that an object's name may have.
func revisionName(set, hash string) string {
	const longestPrefix = 223
	return set[:min(len(set), longestPrefix)] + "-" + hash
}

// truncateHistory plans to delete the oldest of the revisions that nobody runs,
// until no more than the limit are left.
func (p *planner) truncateHistory() (deletions Step) {
	if p.Set.Spec.RevisionHistoryLimit == nil {
		return nil
	}
	live := map[string]bool{p.current.name: true, p.update.name: true}
	for _, pod := range p.Pods {
		live[revisionOf(pod)] = true
	}
	var dead []*appsv1.ControllerRevision
	for _, r := range p.history {
		if !live[r.Name] {
			dead = append(dead, r)
		}
	}
	limit := int(*p.Set.Spec.RevisionHistoryLimit)
	if limit < 0 || len(dead) <= limit {
		return nil
	}
	for _, r := range dead[:len(dead)-limit] {
		deletions = append(deletions, DeleteRevision{Revision: exact(r)})
	}
	return deletions
}
