// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "statefulset.dev/api/apps/v1"
)

// threeMembers is a set with three, and the claim of the last one.
func threeMembers() (v1.StatefulSet, corev1.PersistentVolumeClaim) {
	set := v1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}}
	set.Spec.Replicas, set.Spec.Selector = new(int32(3)), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	claim := corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data-db-2"}}
	claim.Spec.VolumeName, claim.Status.Phase = "disk-7", corev1.ClaimBound
	return set, claim
}

// onHosts can be used on nodes with one of the host names, each in a term of its own.
func onHosts(names ...string) *corev1.VolumeNodeAffinity {
	required := &corev1.NodeSelector{}
	for _, name := range names {
		required.NodeSelectorTerms = append(required.NodeSelectorTerms,
			corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "topology.kubernetes.io/zone", Operator: corev1.NodeSelectorOpExists},
				{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{name}},
			}})
	}
	return &corev1.VolumeNodeAffinity{Required: required}
}

func onNode(name string) *corev1.VolumeNodeAffinity {
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{name}}},
	}}}}
}

func lostMember(set *v1.StatefulSet, nodeName string, ready corev1.ConditionStatus) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name + "-2", Labels: set.Spec.Selector.MatchLabels}}
	pod.Spec.NodeName = nodeName
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}}
	return pod
}

// TestMembersThatWaitForALostNodeAreFound has the third member of a set, with a disk on node-b.
func TestMembersThatWaitForALostNodeAreFound(t *testing.T) {
	set, claim := threeMembers()

	node := func(name, host string, ready corev1.ConditionStatus) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: host}}}
		n.Status.Conditions = []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}}
		return n
	}
	const command, comment = "kubectl sts -n shop replace db-2 --new-claims", "  # the member comes back with new, empty claims"
	const silent = "is on node-b, NotReady since 2026-11-24T12:00:00Z; member db-2 waits for that node; to give up its data:"
	for sentence, test := range map[string]struct {
		pod       *corev1.Pod
		affinity  *corev1.VolumeNodeAffinity
		node      *corev1.Node
		says, fix string
	}{
		"a pod that cannot be scheduled while the node is silent": {
			lostMember(&set, "", corev1.ConditionFalse), onHosts("node-b"), node("node-b", "node-b", corev1.ConditionUnknown), silent,
			command + comment,
		},
		"a pod on such a node": {
			lostMember(&set, "node-b", corev1.ConditionFalse), onHosts("node-b"), node("node-b", "node-b", corev1.ConditionFalse), silent,
			command + " --lost-node=node-b" + comment,
		},
		"a node that is gone": {
			lostMember(&set, "", corev1.ConditionFalse), onHosts("node-b"), node("node-c", "node-c", corev1.ConditionTrue),
			"is on node-b, which does not exist any more; member db-2 waits for that node; to give up its data:", command + comment,
		},
		"a volume that names the node by its name": {
			lostMember(&set, "", corev1.ConditionFalse), onNode("node-b"), node("node-b", "b.example", corev1.ConditionFalse), silent,
			command + comment,
		},
		"a node that is named otherwise than its host": {
			lostMember(&set, "instance-1", corev1.ConditionFalse), onHosts("node-b"), node("instance-1", "node-b", corev1.ConditionFalse), silent,
			command + " --lost-node=instance-1" + comment,
		},
		"a node that is Ready is not the cause": {
			lostMember(&set, "", corev1.ConditionFalse), onHosts("node-b"), node("node-b", "node-b", corev1.ConditionTrue), "", ""},
		"a node of that name that is Ready is not, either": {
			lostMember(&set, "", corev1.ConditionFalse), onNode("node-b"), node("node-b", "b.example", corev1.ConditionTrue), "", ""},
		"a volume that two nodes reach waits for none": {
			lostMember(&set, "", corev1.ConditionFalse), onHosts("node-b", "node-d"), node("node-c", "node-c", corev1.ConditionTrue), "", ""},
		"a volume that every node reaches waits for none": {
			lostMember(&set, "", corev1.ConditionFalse), nil, node("node-c", "node-c", corev1.ConditionTrue), "", ""},
		"a member that is ready needs nothing": {
			lostMember(&set, "node-b", corev1.ConditionTrue), onHosts("node-b"), node("node-b", "node-b", corev1.ConditionFalse), "", ""},
		"a volume that is named for the same node twice": {lostMember(&set, "", corev1.ConditionFalse), onHosts("node-b", "node-b"),
			node("node-b", "node-b", corev1.ConditionFalse), silent, command + comment},
		"a member without a pod is the controller's to make": {
			lostMember(&v1.StatefulSet{Spec: set.Spec, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other"}}, "", corev1.ConditionFalse),
			onHosts("node-b"), node("node-b", "node-b", corev1.ConditionFalse), "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk-7"}}
			volume.Spec.NodeAffinity = test.affinity
			e := &examiner{host: fake.NewClientset(test.pod, test.node, volume)}
			found := e.blockedByNodes(t.Context(), []v1.StatefulSet{set}, []corev1.PersistentVolumeClaim{claim})
			if test.says == "" {
				if len(found) != 0 {
					t.Errorf("got %+v, want nothing", found)
				}
				return
			}
			want := finding{doubt, "claim shop/data-db-2", test.says, []string{test.fix}}
			if len(found) != 1 || fmt.Sprint(found[0]) != fmt.Sprint(want) {
				t.Errorf("got %+v, want %+v", found, want)
			}
		})
	}
}

// TestWhoMayNotReadVolumesOrNodesIsToldSo has each of the two be forbidden.
func TestWhoMayNotReadVolumesOrNodesIsToldSo(t *testing.T) {
	set, claim := threeMembers()
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk-7"}}
	volume.Spec.NodeAffinity = onHosts("node-b")
	for _, resource := range []string{"pods", "persistentvolumes", "nodes"} {
		t.Run(resource, func(t *testing.T) {
			host := fake.NewClientset(lostMember(&set, "", corev1.ConditionFalse), volume)
			host.PrependReactor("*", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", nil)
			})
			found := (&examiner{host: host}).blockedByNodes(t.Context(), []v1.StatefulSet{set}, []corev1.PersistentVolumeClaim{claim})
			if len(found) != 1 || found[0].verdict != unknown || found[0].about != "volumes of set shop/db" {
				t.Errorf("got %+v, want one that could not be looked at", found)
			}
		})
	}
	t.Run("nothing is asked about a set that is ready", func(t *testing.T) {
		ready := set
		ready.Status.Conditions = []v1.StatefulSetCondition{{Type: v1.StatefulSetReady, Status: corev1.ConditionTrue}}
		host := fake.NewClientset()
		if found := (&examiner{host: host}).blockedByNodes(t.Context(), []v1.StatefulSet{ready}, nil); len(found)+len(host.Actions()) != 0 {
			t.Errorf("got %+v after %v, want nothing", found, host.Actions())
		}
	})
}
