// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/controller/plan/action"
	"statefulset.dev/identity"
)

// dueOutput is an output that a pod is to have, and the object that gives it.
type dueOutput struct {
	name string
	of   dueObject
}

// dueOutputs are those that the pod of a member names which is made from a template.
func (f evidence) dueOutputs(ordinal int, template *corev1.PodTemplateSpec, with *v1.MemberIdentity) (all []dueOutput) {
	if with == nil {
		return nil
	}
	for _, object := range f.dueObjects(ordinal) {
		for name, gives := range map[string]string{"ADDRESS": "ext", "VIP": "vip"} {
			if object.template == gives && slices.Contains(template.Spec.Containers[0].Args, "--is=$("+name+")") {
				all = append(all, dueOutput{name, object})
			}
		}
	}
	return all
}

// givenBy is what an output is, and false if it has no value, or that of an object that is yet to
// become another one.
func (f evidence) givenBy(due dueOutput) (string, bool) {
	object := f.Objects[due.of.key]
	if !f.isUsable(due.of) || strings.HasPrefix(object.Annotations[ownerNote], f.Set.Name+"/") && !f.isCurrent(due.of) {
		return "", false
	}
	output, read := object.Outputs[due.name]
	return output.Value, read && output.Missing == ""
}

// lacksOutput reports whether an output has no value that the pod of a member names.
func (f evidence) lacksOutput(ordinal int, template *corev1.PodTemplateSpec, with *v1.MemberIdentity) bool {
	return slices.ContainsFunc(f.dueOutputs(ordinal, template, with), func(due dueOutput) bool {
		_, given := f.givenBy(due)
		return !given
	})
}

// outputs: a pod is created when what it names has values, and with these.
func (j *judged) outputs() {
	for _, act := range planned[action.CreateMember](j) {
		template, with, ok := j.recordedWith(act.Pod.Labels[revisionLabel])
		if !ok {
			continue
		}
		due := j.dueOutputs(act.Ordinal, template, with)
		for _, output := range due {
			value, given := j.givenBy(output)
			told, has := act.Pod.Annotations[outputNote+output.name]
			if !given || !has || told != value {
				j.broke("outputs", "%s has %s=%q (%t), and %s gives %q (%t)", act, output.name, told, has, output.of.key, value, given)
			}
			if !readsOutput(act.Pod, output.name) {
				j.broke("outputs", "%s has no variable %s: %v", act, output.name, act.Pod.Spec.Containers[0].Env)
			}
		}
		for key := range act.Pod.Annotations {
			name, is := strings.CutPrefix(key, outputNote)
			if is && !slices.ContainsFunc(due, func(d dueOutput) bool { return d.name == name }) {
				j.broke("outputs", "%s has %s, which it does not name", act, key)
			}
		}
	}
}

func readsOutput(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.Containers[0].Env, func(v corev1.EnvVar) bool {
		return v.Name == name && v.ValueFrom != nil && v.ValueFrom.FieldRef.FieldPath == "metadata.annotations['"+outputNote+name+"']"
	})
}

// outputsForSuccessors: no pod is removed for an update while an output has no value that its
// successor names.
func (j *judged) outputsForSuccessors() {
	for _, act := range planned[action.DeletePod](j) {
		if act.Reason == action.DeleteForUpdate && j.wanted(act.Ordinal) &&
			j.lacksOutput(act.Ordinal, &j.Set.Spec.Template, j.Set.Spec.Identity) {
			j.broke("outputs of successors", "%s, and an object gives nothing: %v", act,
				j.Objects[identity.ObjectKey{Kind: "Service", Name: j.podName(act.Ordinal) + "-ext"}])
		}
	}
}
