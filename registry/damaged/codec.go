// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "statefulset.dev/api/apps/v1"
)

// codec decodes values, which the transformer has put into envelopes.
type codec struct {
	runtime.Codec
	sets *Sets
}

// Decode returns a stand-in for a value that cannot be read, or an error, depending on the mode in
// the envelope. Values without an envelope are those of updates.
func (c codec) Decode(data []byte, defaults *schema.GroupVersionKind,
	into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	sent, ok := openEnvelope(data)
	if !ok {
		obj, kind, err := c.Codec.Decode(data, defaults, into)
		if err != nil {
			return nil, kind, &unreadable{cause: err}
		}
		return obj, kind, nil
	}
	obj, kind, err := c.open(sent, defaults, into)
	switch {
	case err == nil:
		c.sets.readable(sent.key)
		return obj, kind, nil
	case sent.mode != substitute:
		return nil, kind, &unreadable{key: sent.key, cause: err}
	}
	set, err := c.sets.standIn(sent.key, sent.value, err)
	return set, new(v1.GroupVersionKind()), err
}

func (c codec) open(sent envelope, defaults *schema.GroupVersionKind,
	into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if sent.fault != "" {
		return nil, nil, errors.New(sent.fault)
	}
	obj, kind, err := c.Codec.Decode(sent.value, defaults, into)
	if err != nil {
		return nil, kind, err
	}
	return obj, kind, misplaced(obj, sent.key)
}

// misplaced returns the reason why an object cannot be the one of a key.
func misplaced(obj runtime.Object, key string) error {
	set, ok := obj.(*v1.StatefulSet)
	if !ok {
		return fmt.Errorf("it contains a %T", obj)
	}
	namespace, name, err := namesOf(key)
	if err != nil {
		return err
	}
	switch {
	case set.Namespace != namespace || set.Name != name:
		return fmt.Errorf("it contains the set %q of namespace %q", set.Name, set.Namespace)
	case set.UID == "":
		return errors.New("it contains a set without a UID")
	}
	return nil
}
