// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "statefulset.dev/api/apps/v1"
)

const gateDomain = "example.com/"

// disrupt reads what a set says about disruptions, and reports false if a setting is about
// something else: gates such as handed-over, handed-over:Update+Replace or
// handed-over:Update:30, of their own domain; the method; and the gates on which the readiness
// of pods depends.
func (h *host) disrupt(key, value string) bool {
	spec := &h.set.Spec
	if value == "none" {
		value = ""
	}
	switch key {
	case "gates":
		h.disruption().Gates = nil
		for part := range strings.SplitSeq(value, ",") {
			if part != "" {
				h.disruption().Gates = append(h.disruption().Gates, h.gate(part))
			}
		}
	case "method":
		h.disruption().Method = v1.DisruptionMethodType(value)
	case "readinessGate":
		spec.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: corev1.PodConditionType(gateDomain + value)}}
	default:
		return false
	}
	return true
}

func (h *host) disruption() *v1.StatefulSetDisruption {
	if h.set.Spec.Disruption == nil {
		h.set.Spec.Disruption = &v1.StatefulSetDisruption{}
	}
	return h.set.Spec.Disruption
}

func (h *host) gate(text string) v1.DisruptionGate {
	words := append(strings.Split(text, ":"), "", "")
	gate := v1.DisruptionGate{ConditionType: gateDomain + words[0]}
	for operation := range strings.SplitSeq(words[1], "+") {
		if operation != "" {
			gate.Operations = append(gate.Operations, v1.DisruptionOperationType(operation))
		}
	}
	if words[2] != "" {
		gate.TimeoutSeconds = new(int32(h.number(words[2])))
	}
	return gate
}

// agree carries out the commands by which agents answer, and reports false if it knows no such
// command: "answer web-1" agrees to all that is asked about the pod, "misanswer web-1" agrees
// to what was asked before, and "busy web-1" says in words of its own that it does not agree yet.
// "budget 2" has evictions refused that leave fewer members ready.
func (s *stage) agree(name string, args []string) bool {
	if name == "budget" {
		s.healthy = s.number(args[0])
		return true
	}
	if !slices.Contains([]string{"answer", "misanswer", "busy"}, name) {
		return false
	}
	for _, pod := range args {
		asked, _ := askedOf(s.pods[pod])
		switch name {
		case "answer":
			s.setGates(pod, corev1.ConditionTrue, fmt.Sprintf("Request%d", asked.ID))
		case "misanswer":
			s.setGates(pod, corev1.ConditionTrue, fmt.Sprintf("Request%d", asked.ID-1))
		case "busy":
			s.setGates(pod, corev1.ConditionFalse, "Busy")
		}
	}
	return true
}

// setGates sets the conditions of a pod that are gates.
func (s *stage) setGates(name string, status corev1.ConditionStatus, reason string) {
	s.changePod(name, func(pod *corev1.Pod) {
		for i := range pod.Status.Conditions {
			c := &pod.Status.Conditions[i]
			if !strings.HasPrefix(string(c.Type), gateDomain) {
				continue
			}
			if c.Status != status {
				c.LastTransitionTime = metav1.Time{Time: s.now}
			}
			c.Status, c.Reason = status, reason
		}
	})
}

// answers is what agents do in a fair run: they agree to what they are asked, and let pods become
// ready that depend on a gate that the set does not have.
func (s *stage) answers() (acted []string) {
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		pod := s.pods[name]
		if _, asked := askedOf(pod); asked && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return strings.HasPrefix(string(c.Type), gateDomain) && c.Status == corev1.ConditionFalse
		}) {
			s.agree("answer", []string{name})
			acted = append(acted, "answer "+name)
			continue
		}
		for _, gate := range pod.Spec.ReadinessGates {
			if s.isOpen(pod) || gate.ConditionType == inServiceType || said(pod, string(gate.ConditionType)) == corev1.ConditionTrue ||
				slices.ContainsFunc(s.gatesOf(), func(g v1.DisruptionGate) bool { return g.ConditionType == string(gate.ConditionType) }) {
				continue
			}
			s.changePod(name, func(pod *corev1.Pod) {
				pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions,
					func(c corev1.PodCondition) bool { return c.Type == gate.ConditionType })
				pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
					Type: gate.ConditionType, Status: corev1.ConditionTrue, Reason: "Fine", LastTransitionTime: metav1.Time{Time: s.now}})
			})
			acted = append(acted, "open "+name)
			break
		}
	}
	return acted
}

func (h *host) gatesOf() []v1.DisruptionGate {
	if h.set.Spec.Disruption == nil {
		return nil
	}
	return h.set.Spec.Disruption.Gates
}

// isOpen reports whether no gate keeps a pod from being ready.
func (h *host) isOpen(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(pod.Spec.ReadinessGates, func(gate corev1.PodReadinessGate) bool {
		return !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == gate.ConditionType && c.Status == corev1.ConditionTrue
		})
	})
}

// isContent reports whether the kubelet has nothing to change of a pod that runs: it is ready as
// far as its gates let it.
func (h *host) isContent(pod *corev1.Pod) bool {
	conditions := map[corev1.PodConditionType]corev1.ConditionStatus{}
	for _, c := range pod.Status.Conditions {
		conditions[c.Type] = c.Status
	}
	fine := conditions[corev1.PodReady] == corev1.ConditionTrue
	if len(pod.Spec.ReadinessGates) == 0 {
		return fine
	}
	return conditions[corev1.ContainersReady] == corev1.ConditionTrue && fine == h.isOpen(pod)
}

// lags reports whether a pod runs whose gates the kubelet has yet to see.
func (h *host) lags(pod *corev1.Pod) bool {
	return len(pod.Spec.ReadinessGates) > 0 && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil && !h.isContent(pod)
}

// question is what a pod says that its gates are asked.
type question struct {
	ID                  int64
	Operation, Revision string
	Since               metav1.Time
	Broken              bool
}

func askedOf(pod *corev1.Pod) (asked question, open bool) {
	text, open := pod.Annotations["apps.statefulset.dev/disruption"]
	if err := json.Unmarshal([]byte(text), &asked); open && err != nil {
		panic(err)
	}
	return asked, open
}
