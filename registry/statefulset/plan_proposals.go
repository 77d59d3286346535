// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"encoding/json"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "statefulset.dev/api/apps/v1"
)

// AddProposals lets what is posted to /plan be decoded where a set is expected, although it is none:
// a Scale, a decision about an update, and a request to replace members.
func AddProposals(scheme *runtime.Scheme) error {
	if err := addScaleProposals(scheme); err != nil {
		return err
	}
	if err := scheme.AddConversionFunc((*v1.StatefulSetRollout)(nil), (*v1.StatefulSet)(nil), func(from, to any, _ conversion.Scope) error {
		decision := from.(*v1.StatefulSetRollout)
		return enclose(decision, decision.Name, decision.Namespace, decisionKey, to.(*v1.StatefulSet))
	}); err != nil {
		return err
	}
	return scheme.AddConversionFunc((*v1.StatefulSetReplacement)(nil), (*v1.StatefulSet)(nil), func(from, to any, _ conversion.Scope) error {
		request := from.(*v1.StatefulSetReplacement)
		return enclose(request, request.Name, request.Namespace, replacementKey, to.(*v1.StatefulSet))
	})
}

// decisionKey and replacementKey are where a proposal has what it consists of. No annotation has
// such a key.
const (
	decisionKey    = "a decision about an update"
	replacementKey = "a request to replace members"
)

// enclose makes a proposal of a request: a set in whose annotation it is.
func enclose(request any, name, namespace, key string, proposal *v1.StatefulSet) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	*proposal = v1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Annotations: map[string]string{key: string(text)}}}
	return nil
}

// decisionIn is the decision that a proposal consists of, nil if it is about something else.
func decisionIn(proposal *v1.StatefulSet) *v1.StatefulSetRollout {
	return enclosed[v1.StatefulSetRollout](proposal, decisionKey)
}

// replacementIn is the request to replace members that a proposal consists of, nil if it is about
// something else.
func replacementIn(proposal *v1.StatefulSet) *v1.StatefulSetReplacement {
	return enclosed[v1.StatefulSetReplacement](proposal, replacementKey)
}

func enclosed[T any](proposal *v1.StatefulSet, key string) *T {
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
	return scheme.AddConversionFunc((*autoscalingv1.Scale)(nil), (*v1.StatefulSet)(nil), func(from, to any, _ conversion.Scope) error {
		scale, set := from.(*autoscalingv1.Scale), to.(*v1.StatefulSet)
		*set = v1.StatefulSet{ObjectMeta: scale.ObjectMeta, Spec: v1.StatefulSetSpec{Replicas: &scale.Spec.Replicas}}
		return nil
	})
}

// isScale reports whether a proposal came as a Scale. One that came as a set has its
// defaults, and with them a policy.
func isScale(proposal *v1.StatefulSet) bool { return proposal.Spec.PodManagementPolicy == "" }
