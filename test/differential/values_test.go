//go:build differential

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package differential

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"
)

// base is the object that a create command is about: the base of its kind, or the
// one that the command names ("from claims"), with the command's value merged in.
func (s *side) base(kind, name string, args []string, value map[string]any) (*unstructured.Unstructured, error) {
	file := kind
	if kind == sets {
		file = "plain"
	}
	if len(args) == 2 && args[0] == "from" {
		file = args[1]
	}
	content, err := os.ReadFile("bases/" + file + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the base of %s %s: %w", kind, name, err)
	}
	text := strings.NewReplacer("${api}", s.api(), "${name}", name).Replace(string(content))
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		return nil, fmt.Errorf("reading the base of %s %s: %w", kind, name, err)
	}
	merge(object.Object, value)
	return object, nil
}

// merge is what a JSON merge patch does.
func merge(into, patch map[string]any) {
	for key, value := range patch {
		fields, ok := value.(map[string]any)
		below, isMap := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case ok && isMap:
			merge(below, fields)
		default:
			into[key] = value
		}
	}
}

var placeholder = regexp.MustCompile(`\$\{[^}]+\}`)

// substituted replaces what differs between the sides: ${api}, ${uid:KIND/NAME},
// and the values that were remembered.
func (s *side) substituted(value map[string]any) (map[string]any, error) {
	if value == nil {
		return nil, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	replaced, err := s.substitutedText(string(text))
	if err != nil {
		return nil, err
	}
	var result map[string]any
	return result, json.Unmarshal([]byte(replaced), &result)
}

func (s *side) substitutedWords(words []string) ([]string, error) {
	replaced := make([]string, len(words))
	for i := range words {
		var err error
		if replaced[i], err = s.substitutedText(words[i]); err != nil {
			return nil, err
		}
	}
	return replaced, nil
}

func (s *side) substitutedText(text string) (string, error) {
	var failed error
	text = placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(match, "${"), "}")
		if name == "api" {
			return s.api()
		}
		if key, ok := strings.CutPrefix(name, "uid:"); ok {
			kind, name, _ := strings.Cut(key, "/")
			if object := s.get(kind, name); object != nil {
				return string(object.GetUID())
			}
		}
		if value, ok := s.remembered[name]; ok {
			return value
		}
		failed = fmt.Errorf("%w: nothing is known of %s", errUsage, match)
		return match
	})
	return text, failed
}

// remember gives a field of an object a name: "remember old set/web status.updateRevision".
func (s *side) remember(as, object, field string) error {
	kind, name, _ := strings.Cut(object, "/")
	found := s.get(kind, name)
	if found == nil {
		return fmt.Errorf("%w: there is no %s to remember", errUsage, object)
	}
	value, ok, _ := unstructured.NestedFieldNoCopy(found.Object, strings.Split(field, ".")...)
	if !ok {
		return fmt.Errorf("%w: %s has no %s to remember", errUsage, object, field)
	}
	s.remembered[as] = fmt.Sprint(value)
	return nil
}

// untilObject waits until an object, nil if there is none, is as it should be.
func (s *side) untilObject(ctx context.Context, kind, name string, resource schema.GroupVersionResource,
	check func(*unstructured.Unstructured) bool) error {
	if kind != quotas {
		return s.until(ctx, func() bool { return check(s.get(kind, name)) })
	}
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		object, err := s.client.Resource(resource).Namespace(s.namespace).Get(ctx, name, metav1.GetOptions{})
		return err == nil && check(object), nil
	})
}
