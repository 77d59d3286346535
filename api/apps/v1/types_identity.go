// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// MemberIdentity enables parameters in the templates of a set: $(NAME) is replaced, for each
// member, with the value of the parameter of that name. Revisions record it with the template, so a
// change of it is an update, and undoing an update restores it.
//
// The parameters are IDENTITY (the name of the member), ORDINAL, SET, NAMESPACE, REPLICAS, SERVICE
// and DNS_NAME (both only with serviceName), and those in values. $$(NAME) becomes the text
// $(NAME). Other names are not replaced.
type MemberIdentity struct {
	// env are the parameters that every container gets as environment variables, before its own
	// variables. Parameters that a container names in an environment variable, its command, its
	// arguments or a subPathExpr are added in any case. At most 200.
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:maxItems=200
	Env []string `json:"env,omitempty" protobuf:"bytes,1,rep,name=env"`
	// transforms compute fields of the pod template, with its parameters, in the order of the list.
	// At most 32.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=32
	Transforms []Transform `json:"transforms,omitempty" protobuf:"bytes,2,rep,name=transforms"`
	// values are additional parameters, and their values for members without an override of them. A
	// name has at most 63 upper-case letters, digits and underscores, and begins with a letter. At
	// most 100, with at most 4096 bytes for each value.
	// +optional
	Values map[string]string `json:"values,omitempty" protobuf:"bytes,3,rep,name=values"`
}

// Transform computes a field of a template.
type Transform struct {
	// path is the JSON pointer (RFC 6901) of the field, from the root of the template, such as
	// /spec/containers/0/ports/0/containerPort. Missing maps are created. The index of a list must
	// exist, or be -, which appends an entry.
	// +required
	Path string `json:"path" protobuf:"bytes,1,opt,name=path"`
	// expression is a CEL expression that computes the value of the field. Its variables are the
	// parameters. ORDINAL is a number, and the others are strings. REPLICAS is not available in
	// spec.identity, because it changes while pods run. At most 4096 bytes.
	// +required
	Expression string `json:"expression" protobuf:"bytes,2,opt,name=expression"`
}
