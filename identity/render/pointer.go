// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "statefulset.dev/api/apps/v1"
)

// pointer is a JSON pointer: the keys and indices of a value.
type pointer []string

// IsReserved reports whether a key of labels or annotations has the prefix of our API group.
func IsReserved(key string) bool { return strings.HasPrefix(key, v1.GroupName+"/") }

// ReservedKey is the reserved key of labels or annotations in a path. It is empty if there is none.
func ReservedKey(path string) string {
	at, err := parsePointer(path)
	if err != nil || len(at) < 3 || at[0] != "metadata" || at[1] != "labels" && at[1] != "annotations" || !IsReserved(at[2]) {
		return ""
	}
	return at[2]
}

func parsePointer(text string) (pointer, error) {
	if !strings.HasPrefix(text, "/") {
		return nil, errors.New("must be a JSON pointer from the template, such as /spec/priority")
	}
	if len(text) > mostExpression {
		return nil, fmt.Errorf("must have at most %d bytes", mostExpression)
	}
	var p pointer
	for token := range strings.SplitSeq(text[1:], "/") {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(token), "~") {
			return nil, errors.New("~ must be followed by 0, for ~, or 1, for /")
		}
		if token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token); token == "" {
			return nil, errors.New("has an empty part")
		}
		p = append(p, token)
	}
	return p, nil
}

// isAtOrAbove reports whether a change at p changes the value at other.
func (p pointer) isAtOrAbove(other pointer) bool {
	return len(p) <= len(other) && slices.Equal(p, other[:len(p)])
}

// appends is the index after the last entry of a list.
const appends = "-"

// set sets the value at the pointer, and returns the changed root. It creates missing maps, and a
// missing list to which an entry is appended.
func (p pointer) set(in, value any) (any, error) {
	if len(p) == 0 {
		return value, nil
	}
	if in == nil && p[0] == appends {
		in = []any{}
	}
	switch in := in.(type) {
	case nil:
		next, err := p[1:].set(nil, value)
		return map[string]any{p[0]: next}, err
	case map[string]any:
		next, err := p[1:].set(in[p[0]], value)
		if err == nil {
			in[p[0]] = next
		}
		return in, err
	case []any:
		return p.setEntry(in, value)
	default:
		return nil, fmt.Errorf("%q is in a value that is not a map or a list", p[0])
	}
}

func (p pointer) setEntry(in []any, value any) (any, error) {
	if p[0] == appends {
		next, err := p[1:].set(nil, value)
		return append(in, next), err
	}
	at, err := strconv.Atoi(p[0])
	if err != nil || at < 0 || strconv.Itoa(at) != p[0] {
		return nil, fmt.Errorf("%q is not an index of a list or -", p[0])
	}
	if at >= len(in) {
		return nil, fmt.Errorf("there is no entry %d: the length of the list is %d", at, len(in))
	}
	in[at], err = p[1:].set(in[at], value)
	return in, err
}
