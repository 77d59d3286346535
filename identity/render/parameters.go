// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"regexp"
	"slices"
	"strconv"

	v1 "statefulset.dev/api/apps/v1"
)

// The parameters that every member has; those of the Service only if the set names one.
const (
	Identity  = "IDENTITY"
	Set       = "SET"
	Namespace = "NAMESPACE"
	Ordinal   = "ORDINAL"
	Replicas  = "REPLICAS"
	Service   = "SERVICE"
	DNSName   = "DNS_NAME"
)

// BuiltIn are the names of these.
func BuiltIn() []string {
	return []string{Identity, Set, Namespace, Ordinal, Replicas, Service, DNSName}
}

// IsName reports whether a word can be the name of a parameter.
func IsName(word string) bool { return name().MatchString(word) }

// parameter is one that is known at a place.
type parameter struct {
	text string
	// number is the value of one that is a number in expressions.
	number *int64
	// annotation is that of the pod from which containers read one that changes while they run,
	// empty for all others.
	annotation string
	// output is true if an object gives it.
	output bool
}

// misplaced says why a parameter is no good for what stays as it is, empty if it is.
func (p parameter) misplaced() string {
	switch {
	case p.output:
		return "is an output of an object; use it in env, args or command of the pod template"
	case p.annotation != "":
		return changes
	default:
		return ""
	}
}

// Source is what the parameters of the members of a set come from.
type Source struct {
	// Identity is what the revision of the template records.
	Identity *v1.MemberIdentity
	// Name, Namespace and ServiceName are those of the set.
	Name, Namespace, ServiceName string
	Replicas                     int
	// Wanted are the ordinals of the members that the set wants, as many as Replicas, the lowest first.
	// It is asked only for what lists them.
	Wanted func() []v1.OrdinalRange
	// Values are those of all overrides of the set, which bound what expressions may cost.
	Values []map[string]string
	// Selected are the labels by which the set finds its pods.
	Selected []string
	// Outputs are the names of what objects give to pods.
	Outputs []string
	// Evaluation says until when expressions may be evaluated.
	Evaluation *Evaluation
}

// Member is the one for which something is rendered.
type Member struct {
	Ordinal int
	// Values are those of its override.
	Values map[string]string
}

// parameters are those of a member.
func (s *Source) parameters(m Member) map[string]parameter {
	identity := s.identity(m.Ordinal)
	all := map[string]parameter{
		Identity:  {text: identity},
		Set:       {text: s.Name},
		Namespace: {text: s.Namespace},
		Ordinal:   numeric(m.Ordinal),
		Replicas:  numeric(s.Replicas),
	}
	changing := all[Replicas]
	changing.annotation = v1.ReplicasAnnotation
	all[Replicas] = changing
	if s.ServiceName != "" {
		all[Service] = parameter{text: s.ServiceName}
		all[DNSName] = parameter{text: s.dnsName(m.Ordinal)}
	}
	defer s.addOutputs(all)
	if s.Identity == nil {
		return all
	}
	for name, value := range s.Identity.Values {
		if _, taken := all[name]; taken || !IsName(name) {
			continue // refused where it is written
		}
		if other, overridden := m.Values[name]; overridden {
			value = other
		}
		all[name] = parameter{text: value}
	}
	return all
}

func (s *Source) identity(ordinal int) string { return s.Name + "-" + strconv.Itoa(ordinal) }

// dnsName is the name of a member in the Service of the set, which has one.
func (s *Source) dnsName(ordinal int) string {
	return s.identity(ordinal) + "." + s.ServiceName + "." + s.Namespace + ".svc"
}

// addOutputs adds what objects give, but for names that are taken: of a revision that has a value of
// its own under the name. Their text is put into the pod when it is created.
func (s *Source) addOutputs(all map[string]parameter) {
	for _, name := range s.Outputs {
		if _, taken := all[name]; !taken {
			all[name] = parameter{annotation: v1.OutputAnnotationPrefix + name, output: true}
		}
	}
}

func numeric(n int) parameter { return parameter{text: strconv.Itoa(n), number: new(int64(n))} }

// Names are the names of all parameters, in order.
func (s *Source) Names() []string { return slices.Sorted(maps.Keys(s.parameters(Member{}))) }

// lengths are how long the text of each parameter may be.
func (s *Source) lengths(known map[string]parameter) sizes {
	const digits = 10
	longest := sizes{}
	for name, p := range known {
		longest[name] = uint64(len(p.text)) + digits
	}
	for _, values := range s.Values {
		for name, value := range values {
			if have, known := longest[name]; known {
				longest[name] = max(have, uint64(len(value)))
			}
		}
	}
	return longest
}

// name is what names of parameters look like.
func name() *regexp.Regexp { return names }

var names = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,62}$`)

// ofObject are the parameters of an object: those of the set, if it is the set's. What changes
// while pods run is as any other. Outputs are known to be refused with the right words.
func (s *Source) ofObject(forSet bool, m Member) map[string]parameter {
	if forSet {
		m = Member{}
	}
	all := s.parameters(m)
	for name, p := range all {
		if p.output {
			continue
		}
		p.annotation = ""
		all[name] = p
	}
	if forSet {
		for _, name := range []string{Identity, Ordinal, DNSName} {
			delete(all, name)
		}
	}
	return all
}
