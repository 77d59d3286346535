// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// identityJSON is what members are rendered with, empty if they are not.
func identityJSON(of *v1.MemberIdentity) string {
	if of == nil {
		return ""
	}
	text, err := json.Marshal(of)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// recordedWith is what a revision records, and false if there is no such revision.
func (j *judged) recordedWith(name string) (template *corev1.PodTemplateSpec, with *v1.MemberIdentity, ok bool) {
	for _, act := range planned[action.CreateRevision](j) {
		if act.Revision.Name == name {
			return readRecord(act.Revision)
		}
	}
	return readRecord(j.revisions[name])
}

func readRecord(revision *appsv1.ControllerRevision) (template *corev1.PodTemplateSpec, with *v1.MemberIdentity, ok bool) {
	var recorded struct {
		Spec struct {
			Template *corev1.PodTemplateSpec
			Identity *v1.MemberIdentity
		}
	}
	if revision == nil || json.Unmarshal(revision.Data.Raw, &recorded) != nil || recorded.Spec.Template == nil {
		return nil, nil, false
	}
	return recorded.Spec.Template, recorded.Spec.Identity, true
}

// identityText is what a pod has of parameters: variables, and an annotation that is computed.
func identityText(pod *corev1.Pod) string {
	var parts []string
	for _, v := range pod.Spec.Containers[0].Env {
		if isOutput(v.Name) {
			continue
		}
		if isParameter(v.Name) && v.ValueFrom != nil {
			parts = append(parts, v.Name+" from "+v.ValueFrom.FieldRef.FieldPath)
		} else if isParameter(v.Name) {
			parts = append(parts, v.Name+"="+v.Value)
		}
	}
	if id := pod.Annotations["id"]; id != "" {
		parts = append(parts, "id "+id)
	}
	return strings.Join(parts, ", ")
}

// dueIdentity is what the pod of a member is to have of parameters.
func (f evidence) dueIdentity(with *v1.MemberIdentity, template *corev1.PodTemplateSpec, ordinal int) string {
	if with == nil {
		return ""
	}
	named := slices.Clone(with.Env)
	for _, name := range []string{"IDENTITY", "REPLICAS"} {
		if slices.Contains(template.Spec.Containers[0].Args, "--is=$("+name+")") && !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	var parts []string
	for _, name := range named {
		switch name {
		case "IDENTITY":
			parts = append(parts, fmt.Sprintf("IDENTITY=%s-%d", f.Set.Name, ordinal))
		case "REPLICAS":
			parts = append(parts, "REPLICAS from metadata.annotations['apps.statefulset.dev/replicas']")
		case "TIER":
			tier := with.Values["TIER"]
			if override := f.overrideOf(ordinal); override != nil && override.Values["TIER"] != "" {
				tier = override.Values["TIER"]
			}
			parts = append(parts, "TIER="+tier)
		}
	}
	for _, t := range with.Transforms {
		if t.Path == "/metadata/annotations/id" {
			parts = append(parts, fmt.Sprintf("id %s-%d/%d", f.Set.Name, ordinal, 2*ordinal))
		}
	}
	return strings.Join(parts, ", ")
}

// lacksParameters reports whether the pod of a member that follows the template has not the
// parameters of the set.
func (f evidence) lacksParameters(pod *corev1.Pod, ordinal int) bool {
	follows := f.strategy() != v1.OnDeleteStatefulSetStrategyType && f.isAbovePartition(ordinal)
	if _, with, ok := readRecord(f.revisions[pod.Labels[revisionLabel]]); follows && ok &&
		identityJSON(with) != identityJSON(f.Set.Spec.Identity) {
		return true
	}
	return follows && identityText(pod) != f.dueIdentity(f.Set.Spec.Identity, &f.Set.Spec.Template, ordinal)
}

// isUnrenderable reports whether the template of the set cannot be rendered for a member, or an
// object is lacking that it needs.
func (f evidence) isUnrenderable(ordinal int) bool {
	lacks := slices.ContainsFunc(f.dueObjects(ordinal), func(due dueObject) bool { return !f.isUsable(due) || !f.hasPassword(due) })
	return isBad(f.Set.Spec.Identity) && ordinal > 2 || lacks || f.doubles() ||
		f.lacksOutput(ordinal, &f.Set.Spec.Template, f.Set.Spec.Identity)
}

// isMistold reports whether a pod has another number for REPLICAS than the set.
func (f evidence) isMistold(pod *corev1.Pod) bool {
	told, names := pod.Annotations[v1.ReplicasAnnotation]
	return names && told != fmt.Sprint(len(f.ordinals))
}

// mayBeUnrenderable reports whether there is a revision at which a member cannot be rendered.
func (f evidence) mayBeUnrenderable(ordinal int) bool {
	if f.isUnrenderable(ordinal) {
		return true
	}
	for name := range f.revisions {
		if f.isUnrenderableAt(name, ordinal) {
			return true
		}
	}
	return false
}

// isUnrenderableAt reports whether a member cannot be rendered at a revision.
func (f evidence) isUnrenderableAt(revision string, ordinal int) bool {
	template, with, ok := readRecord(f.revisions[revision])
	return ok && (isBad(with) && ordinal > 2 || f.lacksOutput(ordinal, template, with))
}

// parameters: a pod is created with the parameters of its revision, and where that has none, it is
// what it was without them, to the letter.
func (j *judged) parameters() {
	for _, act := range planned[action.CreateMember](j) {
		revision := act.Pod.Labels[revisionLabel]
		template, with, ok := j.recordedWith(revision)
		if !ok {
			continue
		}
		if due := j.dueIdentity(with, template, act.Ordinal); identityText(act.Pod) != due {
			j.broke("parameters", "pod %s is created with %s, want %s", act.Pod.Name, identityText(act.Pod), due)
		}
		told, names := act.Pod.Annotations[v1.ReplicasAnnotation]
		if reads := strings.Contains(identityText(act.Pod), "REPLICAS"); names != reads || names && told != fmt.Sprint(len(j.ordinals)) {
			j.broke("told replicas", "pod %s is created with %q for REPLICAS, which it reads: %t; the set wants %d", act.Pod.Name, told, reads,
				len(j.ordinals))
		}
		plain := identity.Pod(j.Set, template, revision, act.Ordinal)
		if _, drained := j.drain(); drained && hasServiceGate(act.Pod) {
			plain.Spec.ReadinessGates = append(plain.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: inServiceType})
		}
		if text, given := act.Pod.Annotations[generatedNote]; given { // which it is is seen elsewhere
			plain.Annotations = action.Merged(plain.Annotations, map[string]string{generatedNote: text})
		}
		if with == nil && !apiequality.Semantic.DeepEqual(plain, act.Pod) {
			j.broke("nothing rendered", "pod %s is created as\n%v, want\n%v", act.Pod.Name, act.Pod, plain)
		}
	}
}

// parametersInPlace: what an update in place changes is what the template is for that member.
func (j *judged) parametersInPlace() {
	for _, act := range planned[action.UpdateInPlace](j) {
		id, changes := act.Annotations["id"]
		if want := fmt.Sprintf("%s-%d/%d", j.Set.Name, act.Ordinal, 2*act.Ordinal); changes && id != nil && *id != want {
			j.broke("parameters in place", "%s gets the annotation %s, want %s", act, *id, want)
		}
	}
}

// recordsIdentity: a revision records what members are rendered with, and has the bytes of apps/v1
// if they are not.
func (j *judged) recordsIdentity() {
	for _, act := range planned[action.CreateRevision](j) {
		_, with, _ := j.recordedWith(act.Revision.Name)
		if identityJSON(with) != identityJSON(j.Set.Spec.Identity) {
			j.broke("recorded identity", "%s records %s, want %s", act, identityJSON(with), identityJSON(j.Set.Spec.Identity))
		}
		if prefix := `{"spec":{"template":{`; j.Set.Spec.Identity == nil && !strings.HasPrefix(string(act.Revision.Data.Raw), prefix) {
			j.broke("recorded identity", "%s records %s, want what begins with %s", act, act.Revision.Data.Raw, prefix)
		}
	}
}

// isTold reports whether a pod is told a number for REPLICAS.
func isTold(a action.PatchPod) bool { return a.Annotations[v1.ReplicasAnnotation] != nil }

// tellsReplicas: only pods that are rendered, name REPLICAS and have another number are told, after
// all that anything rests on.
func (j *judged) tellsReplicas() {
	for _, act := range planned[action.PatchPod](j) {
		value, tells := act.Annotations[v1.ReplicasAnnotation]
		if !tells {
			continue
		}
		pod := j.pods[act.Pod.Name]
		if value == nil || *value != fmt.Sprint(len(j.ordinals)) || len(act.Annotations)+len(act.Labels) != 1 {
			j.broke("told replicas", "%s: the set wants %d", act, len(j.ordinals))
		}
		if pod != nil && (!j.isMistold(pod) || pod.DeletionTimestamp != nil || !j.wanted(act.Ordinal)) {
			j.broke("told who reads", "%s, which has %v", act, pod.Annotations)
		}
		if pod != nil {
			if _, with, ok := j.recordedWith(pod.Labels[revisionLabel]); ok && with == nil {
				j.broke("told who reads", "%s, which is not rendered", act)
			}
		}
		if !slices.ContainsFunc(j.plan.Finally,
			func(chain action.Chain) bool { return len(chain) == 1 && fmt.Sprint(chain[0]) == fmt.Sprint(act) }) {
			j.broke("told last", "%s, and other things may rest on it", act)
		}
	}
}

// renderable: of a member for which the template cannot be rendered no pod is created, and its pod
// is not removed to be created again. One that is not wanted goes for good.
func (j *judged) renderable() {
	for _, act := range planned[action.CreateMember](j) {
		if _, with, ok := j.recordedWith(act.Pod.Labels[revisionLabel]); ok && isBad(with) && act.Ordinal > 2 {
			j.broke("renderable", "%s", act)
		}
	}
	for _, act := range planned[action.DeletePod](j) {
		if act.Reason == action.DeleteForUpdate && act.Ordinal > 2 && j.wanted(act.Ordinal) && isBad(j.Set.Spec.Identity) {
			j.broke("renderable", "%s, and it cannot be rendered", act)
		}
	}
}
