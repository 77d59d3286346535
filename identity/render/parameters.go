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

// The parameters that every member has. Those of the Service exist only if the set has a
// serviceName.
const (
	Identity  = "IDENTITY"
	Set       = "SET"
	Namespace = "NAMESPACE"
	Ordinal   = "ORDINAL"
	Replicas  = "REPLICAS"
	Service   = "SERVICE"
	DNSName   = "DNS_NAME"
)

// BuiltIn are the names of the built-in parameters.
func BuiltIn() []string {
	return []string{Identity, Set, Namespace, Ordinal, Replicas, Service, DNSName}
}

// IsName reports whether a word can be the name of a parameter.
func IsName(word string) bool { return name().MatchString(word) }

// parameter is a parameter that is known at a place.
type parameter struct {
	text string
	// number is the value of a parameter that is a number in expressions.
	number *int64
	// annotation is the annotation of the pod from which containers read a parameter that changes
	// while they run. It is empty for all other parameters.
	annotation string
	// output is true for an output of an object.
	output bool
}

// misplaced is the reason why a parameter cannot be used at a place that never changes. It is empty
// if it can be used.
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

// Source has the data from which the parameters of members are computed.
type Source struct {
	// Identity is the identity that the revision of the template records.
	Identity *v1.MemberIdentity
	// Name, Namespace and ServiceName are those of the set.
	Name, Namespace, ServiceName string
	Replicas                     int
	// Desired returns the ordinals of the desired members, of which there are Replicas, the lowest
	// first. It is called only for templates that list them.
	Desired func() []v1.OrdinalRange
	// Values are the values of all overrides of the set. They affect the estimated cost of
	// expressions.
	Values []map[string]string
	// Selected are the labels in the selector of the set.
	Selected []string
	// Outputs are the names of the outputs of objects.
	Outputs []string
	// Evaluation limits the time in which expressions are evaluated.
	Evaluation *Evaluation
}

// Member is the member for which something is rendered.
type Member struct {
	Ordinal int
	// Values are the values of the member's override.
	Values map[string]string
}

// parameters are the parameters of a member.
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
			continue // validation rejects it
		}
		if other, overridden := m.Values[name]; overridden {
			value = other
		}
		all[name] = parameter{text: value}
	}
	return all
}

func (s *Source) identity(ordinal int) string { return s.Name + "-" + strconv.Itoa(ordinal) }

// dnsName is the DNS name of a member in the Service of the set. The set must have one.
func (s *Source) dnsName(ordinal int) string {
	return s.identity(ordinal) + "." + s.ServiceName + "." + s.Namespace + ".svc"
}

// addOutputs adds the outputs of objects, except names that exist already: a revision may have a
// value of the same name. The value of an output is written to the pod when the pod is created.
func (s *Source) addOutputs(all map[string]parameter) {
	for _, name := range s.Outputs {
		if _, taken := all[name]; !taken {
			all[name] = parameter{annotation: v1.OutputAnnotationPrefix + name, output: true}
		}
	}
}

func numeric(n int) parameter { return parameter{text: strconv.Itoa(n), number: new(int64(n))} }

// Names are the names of all parameters, sorted.
func (s *Source) Names() []string { return slices.Sorted(maps.Keys(s.parameters(Member{}))) }

// lengths are the maximum lengths of the values of parameters.
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

// name is the pattern of names of parameters.
func name() *regexp.Regexp { return names }

var names = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,62}$`)

// ofObject are the parameters of an object: only those of the set, if it is an object of the set.
// Here, a parameter that changes while pods run is like any other. Outputs are included, so that
// they get a specific error.
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
