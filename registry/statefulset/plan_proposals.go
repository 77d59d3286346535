// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"encoding/json"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	appsv1 "statefulset.dev/api/apps/v1"
)

// AddProposals lets what is posted to /plan be decoded where a set is expected, although it is none:
// a Scale, a decision about an update, and a request to replace members.
func AddProposals(scheme *runtime.Scheme) error {
	if err := addScaleProposals(scheme); err != nil {
		return err
	}
	if err := scheme.AddConversionFunc((*appsv1.StatefulSetRollout)(nil), (*appsv1.StatefulSet)(nil), func(from, to any, _ conversion.Scope) error {
		decision := from.(*appsv1.StatefulSetRollout)
		return enclose(decision, decision.Name, decision.Namespace, decisionKey, to.(*appsv1.StatefulSet))
	}); err != nil {
		return err
	}
	return scheme.AddConversionFunc((*appsv1.StatefulSetReplacement)(nil), (*appsv1.StatefulSet)(nil), func(from, to any, _ conversion.Scope) error {
		request := from.(*appsv1.StatefulSetReplacement)
		return enclose(request, request.Name, request.Namespace, replacementKey, to.(*appsv1.StatefulSet))
	})
}

// decisionKey and replacementKey are where a proposal has what it consists of. No annotation has
// such a key.
const (
	decisionKey    = "a decision about an update"
	replacementKey = "a request to replace members"
)

// enclose makes a proposal of a request: a set in whose annotation it is.
func enclose(request any, name, namespace, key string, proposal *appsv1.StatefulSet) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	*proposal = appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Annotations: map[string]string{key: string(text)}}}
	return nil
}

// decisionIn is the decision that a proposal consists of, nil if it is about something else.
func decisionIn(proposal *appsv1.StatefulSet) *appsv1.StatefulSetRollout {
	return enclosed[appsv1.StatefulSetRollout](proposal, decisionKey)
}

// replacementIn is the request to replace members that a proposal consists of, nil if it is about
// something else.
func replacementIn(proposal *appsv1.StatefulSet) *appsv1.StatefulSetReplacement {
	return enclosed[appsv1.StatefulSetReplacement](proposal, replacementKey)
}

func enclosed[T any](proposal *appsv1.StatefulSet, key string) *T {
	text, ok := proposal.Annotations[key]
	request := new(T)
	if !ok || !isScale(proposal) || json.Unmarshal([]byte(text), request) != nil {
		return nil
	}
	return request
}

// addScaleProposals lets a Scale be decoded where a set is expected: as a set of
// which only the replicas count.
func addScaleProposals(scheme *runtime.Scheme) error {
	return scheme.AddConversionFunc((*autoscalingv1.Scale)(nil), (*appsv1.StatefulSet)(nil), func(from, to any, _ conversion.Scope) error {
		scale, set := from.(*autoscalingv1.Scale), to.(*appsv1.StatefulSet)
		*set = appsv1.StatefulSet{ObjectMeta: scale.ObjectMeta, Spec: appsv1.StatefulSetSpec{Replicas: &scale.Spec.Replicas}}
		return nil
	})
}

// isScale reports whether a proposal came as a Scale. One that came as a set has its
// defaults, and with them a policy.
func isScale(proposal *appsv1.StatefulSet) bool { return proposal.Spec.PodManagementPolicy == "" }
