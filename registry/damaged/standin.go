// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/identity/conditions"
)

// newStandIn returns a stand-in with the metadata of the set, and with conditions that say what it
// is. It has no deletion timestamp, even if the set has one: a controller that acts on a deletion
// would work on a set that cannot be written.
func newStandIn(meta metav1.ObjectMeta, why string) *v1.StatefulSet {
	meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds, meta.Finalizers, meta.ManagedFields = nil, nil, nil, nil
	if meta.Annotations == nil {
		meta.Annotations = map[string]string{}
	}
	meta.Annotations[v1.DamagedAnnotation] = why
	says := conditions.Conditions{
		Ready:   conditions.Condition{Status: corev1.ConditionUnknown, Reason: v1.ReasonDamaged, Message: why},
		Stalled: conditions.Condition{Status: corev1.ConditionTrue, Reason: v1.ReasonDamaged, Message: why},
	}
	return &v1.StatefulSet{ObjectMeta: meta, Status: v1.StatefulSetStatus{Conditions: says.Put(nil, time.Now())}}
}

// identify determines the metadata of the damaged set. It asks the most complete sources first: the
// watch cache, which may have the earlier set; the value, whose beginning may be intact, or of
// which only the spec may be unknown to us; and then the objects of the set in the host cluster. If
// there are no such objects, the garbage collector has nothing to delete for the set, so any UID
// that no other set has is sufficient.
func (s *Sets) identify(namespace, name string, value []byte) (metav1.ObjectMeta, error) {
	if lastKnown := s.lastKnown.Load(); lastKnown != nil {
		if set := (*lastKnown)(namespace, name); set != nil {
			return *set.ObjectMeta.DeepCopy(), nil
		}
	}
	for _, read := range []func([]byte) (metav1.ObjectMeta, bool){metaOfProtobuf, metaOfJSON} {
		if meta, ok := read(value); ok && meta.Namespace == namespace && meta.Name == name && meta.UID != "" {
			return meta, nil
		}
	}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("unknown/" + namespace + "/" + name)}
	if s.host == nil {
		return meta, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), hostPatience)
	defer cancel()
	uid, err := s.host.OwnerUID(ctx, namespace, name)
	if err != nil {
		return metav1.ObjectMeta{}, fmt.Errorf("reading the UID of the damaged set from the host cluster: %w", err)
	}
	if uid != "" {
		meta.UID = uid
	}
	return meta, nil
}

func metaOfJSON(value []byte) (metav1.ObjectMeta, bool) {
	var object metav1.PartialObjectMetadata
	err := json.Unmarshal(value, &object)
	return object.ObjectMeta, err == nil
}

// metaOfProtobuf reads the metadata, which is the first field of every kind. The rest may be
// missing or invalid.
func metaOfProtobuf(value []byte) (meta metav1.ObjectMeta, ok bool) {
	const head = "k8s\x00"
	if len(value) < len(head) || string(value[:len(head)]) != head {
		return meta, false
	}
	object, _ := field(value[len(head):], 2)
	raw, whole := field(object, 1)
	if !whole || len(raw) == 0 {
		return meta, false
	}
	return meta, meta.Unmarshal(raw) == nil
}

// field returns the first field of a protobuf message with a number and a length. If the message is
// truncated, it returns the part of the field that exists, and whole is false.
func field(message []byte, number uint64) (content []byte, whole bool) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 || tag&7 != 2 {
			return nil, false
		}
		length, m := binary.Uvarint(message[n:])
		if m <= 0 {
			return nil, false
		}
		message = message[n+m:]
		whole = length <= uint64(len(message))
		if !whole {
			length = uint64(len(message))
		}
		if tag>>3 == number {
			return message[:length], whole
		}
		message = message[length:]
	}
	return nil, false
}
