// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	v1 "statefulset.dev/api/apps/v1"
)

// Members is the list of the desired members, which transforms of objects can read. It is not a
// string, so $(MEMBERS) is not a reference. A value of the user, or an output, with this name
// replaces the list.
const Members = "MEMBERS"

// The maximum number of members in the list: in an object of the set, and in objects of members, of
// which there are as many as the list has entries.
const (
	mostMembers    = 10_000
	mostForMembers = 128
)

// The type of an entry of the list in expressions, and its fields. The last one exists only if the
// set has a serviceName.
const (
	entryType     = "member"
	entryIdentity = "identity"
	entryOrdinal  = "ordinal"
	entryDNSName  = "dnsName"
)

// mentionsMembers reports whether transforms may read the list. It has false positives.
func mentionsMembers(transforms []v1.Transform) bool {
	return slices.ContainsFunc(transforms, func(t v1.Transform) bool { return strings.Contains(t.Expression, Members) })
}

// listed is the list in some expressions.
type listed struct {
	source *Source
	// misplaced is the reason why the list cannot be used there. It is empty if the list can be
	// used.
	misplaced string
}

// listedInObject is the list in the transforms of an object. It is nil if none of them mentions it.
func (s *Source) listedInObject(transforms []v1.Transform, forSet bool) *listed {
	if !mentionsMembers(transforms) {
		return nil
	}
	l := &listed{source: s}
	switch n := s.Replicas; {
	case !forSet && n > mostForMembers:
		l.misplaced = fmt.Sprintf("has %d members; at most %d are allowed in an object of each member; use scope Set", n, mostForMembers)
	case n > mostMembers:
		l.misplaced = fmt.Sprintf("has %d members; at most %d are allowed", n, mostMembers)
	}
	return l
}

// listedInIdentity is the list in the transforms of pods. They cannot use it, and get a specific
// error.
func (s *Source) listedInIdentity() *listed {
	if !mentionsMembers(s.Identity.Transforms) {
		return nil
	}
	return &listed{source: s, misplaced: "changes while pods run; use it in transforms of objectTemplates"}
}

// options are the extensions of the language for the list.
func (l *listed) options(base *cel.Env) []cel.EnvOption {
	entries := entries{Provider: base.CELTypeProvider(), dnsNames: l.source.ServiceName != ""}
	return []cel.EnvOption{cel.CustomTypeProvider(entries), cel.Variable(Members, cel.ListType(cel.ObjectType(entryType)))}
}

// measure records the length of the list and of its strings.
func (l *listed) measure(s sizes) {
	s[Members] = uint64(max(l.source.Replicas, 0))
	const digits = 11 // and a dash
	s["."+entryIdentity] = uint64(len(l.source.Name) + digits)
	s["."+entryDNSName] = s["."+entryIdentity] + uint64(len(l.source.ServiceName)+len(l.source.Namespace)+len("...svc"))
}

// entries are the types of the language and the type of an entry of the list.
type entries struct {
	types.Provider

	dnsNames bool
}

// FindStructType implements types.Provider.
func (e entries) FindStructType(name string) (*types.Type, bool) {
	if name == entryType {
		return types.NewTypeTypeWithParam(types.NewObjectType(entryType)), true
	}
	return e.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (e entries) FindStructFieldNames(name string) ([]string, bool) {
	if name != entryType {
		return e.Provider.FindStructFieldNames(name)
	}
	names := []string{entryIdentity, entryOrdinal}
	if e.dnsNames {
		names = append(names, entryDNSName)
	}
	return names, true
}

// FindStructFieldType implements types.Provider. In an evaluation, an entry is a map.
func (e entries) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if name != entryType {
		return e.Provider.FindStructFieldType(name, field)
	}
	switch {
	case field == entryOrdinal:
		return &types.FieldType{Type: types.IntType}, true
	case field == entryIdentity, field == entryDNSName && e.dnsNames:
		return &types.FieldType{Type: types.StringType}, true
	default:
		return nil, false
	}
}

// NewValue implements types.Provider.
func (e entries) NewValue(name string, fields map[string]ref.Val) ref.Val {
	if name == entryType {
		return types.NewErr("an expression cannot create a %s", entryType)
	}
	return e.Provider.NewValue(name, fields)
}

// list returns the list, the lowest ordinal first. It has an entry for each desired member.
func (s *Source) list() ref.Val {
	all := make([]ref.Val, 0, max(s.Replicas, 0))
	for ordinal := range s.ordinals() {
		entry := map[string]any{entryIdentity: s.identity(ordinal), entryOrdinal: int64(ordinal)}
		if s.ServiceName != "" {
			entry[entryDNSName] = s.dnsName(ordinal)
		}
		all = append(all, types.DefaultTypeAdapter.NativeToValue(entry))
	}
	return types.DefaultTypeAdapter.NativeToValue(all)
}

func (s *Source) ordinals() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range s.desiredRanges() {
			for ordinal := int(r.First); ordinal <= int(r.End()); ordinal++ {
				if !yield(ordinal) {
					return
				}
			}
		}
	}
}

func (s *Source) desiredRanges() []v1.OrdinalRange {
	if s.Desired == nil {
		return nil
	}
	return s.Desired()
}

// roster is a string that changes with the list.
func (s *Source) roster() string {
	var text strings.Builder
	text.WriteString("of " + s.ServiceName)
	for _, r := range s.desiredRanges() {
		text.WriteString(" " + strconv.Itoa(int(r.First)) + "-" + strconv.Itoa(int(r.End())))
	}
	return text.String()
}
