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

// Members is the list of the members that a set wants, which transforms of objects can read. It is no
// text, so $(MEMBERS) is no reference; and a value of the user's, or an output, that has its name is
// in its place.
const Members = "MEMBERS"

// The members that the list may have: in an object of the set, and in those of members, of which there
// are as many as the list has entries.
const (
	mostMembers    = 10_000
	mostForMembers = 128
)

// What an entry of the list is to expressions, and its fields. The last is there only if the set
// names a Service.
const (
	entryType     = "member"
	entryIdentity = "identity"
	entryOrdinal  = "ordinal"
	entryDNSName  = "dnsName"
)

// mentionsMembers reports whether transforms may read the list. It is true of more than do.
func mentionsMembers(transforms []v1.Transform) bool {
	return slices.ContainsFunc(transforms, func(t v1.Transform) bool { return strings.Contains(t.Expression, Members) })
}

// listed is what the list may be in some expressions.
type listed struct {
	source *Source
	// misplaced says why it is no good there, empty if it is.
	misplaced string
}

// listedInObject is the list in the transforms of an object, nil if none of them mentions it.
func (s *Source) listedInObject(transforms []v1.Transform, forSet bool) *listed {
	if !mentionsMembers(transforms) {
		return nil
	}
	l := &listed{source: s}
	switch n := s.Replicas; {
	case !forSet && n > mostForMembers:
		l.misplaced = fmt.Sprintf("has %d members, and may have %d at most in an object of each member; use scope Set", n, mostForMembers)
	case n > mostMembers:
		l.misplaced = fmt.Sprintf("has %d members, and may have %d at most", n, mostMembers)
	}
	return l
}

// listedInIdentity is the list in the transforms of pods, where it is refused with the right words.
func (s *Source) listedInIdentity() *listed {
	if !mentionsMembers(s.Identity.Transforms) {
		return nil
	}
	return &listed{source: s, misplaced: "changes while pods run; use it in transforms of objectTemplates"}
}

// options are what the language has besides, for the list.
func (l *listed) options(base *cel.Env) []cel.EnvOption {
	entries := entries{Provider: base.CELTypeProvider(), dnsNames: l.source.ServiceName != ""}
	return []cel.EnvOption{cel.CustomTypeProvider(entries), cel.Variable(Members, cel.ListType(cel.ObjectType(entryType)))}
}

// measure notes how long the list is, and the texts in it.
func (l *listed) measure(s sizes) {
	s[Members] = uint64(max(l.source.Replicas, 0))
	const digits = 11 // and a dash
	s["."+entryIdentity] = uint64(len(l.source.Name) + digits)
	s["."+entryDNSName] = s["."+entryIdentity] + uint64(len(l.source.ServiceName)+len(l.source.Namespace)+len("...svc"))
}

// entries are the types of the language with that of an entry of the list.
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

// FindStructFieldType implements types.Provider. To evaluate, an entry is a map.
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
		return types.NewErr("a %s is not made by an expression", entryType)
	}
	return e.Provider.NewValue(name, fields)
}

// list is the list, lowest ordinal first. It has as many entries as the set wants members.
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
		for _, r := range s.wanted() {
			for ordinal := int(r.First); ordinal <= int(r.End()); ordinal++ {
				if !yield(ordinal) {
					return
				}
			}
		}
	}
}

func (s *Source) wanted() []v1.OrdinalRange {
	if s.Wanted == nil {
		return nil
	}
	return s.Wanted()
}

// roster is a text that is another one if the list is.
func (s *Source) roster() string {
	var text strings.Builder
	text.WriteString("of " + s.ServiceName)
	for _, r := range s.wanted() {
		text.WriteString(" " + strconv.Itoa(int(r.First)) + "-" + strconv.Itoa(int(r.End())))
	}
	return text.String()
}
