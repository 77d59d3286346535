// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// MemberIdentity gives the templates of a set parameters: $(NAME) in them becomes, for each
// member, the value of the parameter of that name. It is recorded in revisions beside the template,
// so that a change of it is an update, and is undone with one.
//
// The parameters are IDENTITY (the name of the member), ORDINAL, SET, NAMESPACE, REPLICAS, SERVICE
// and DNS_NAME (both only with serviceName), and those of values. $$(NAME) gives $(NAME). Other
// names stay as they are.
type MemberIdentity struct {
	// env are the parameters that every container gets as environment variables, in front of
	// its own. What a container names in an environment variable, its command, its arguments or
	// a subPathExpr it gets in any case.
	// +optional
	// +listType=set
	// +k8s:optional
	// +k8s:maxItems=200
	Env []string `json:"env,omitempty" protobuf:"bytes,1,rep,name=env"`
	// transforms change the pod template, with its parameters, in this order. At most 32.
	// +optional
	// +listType=atomic
	// +k8s:optional
	// +k8s:maxItems=32
	Transforms []Transform `json:"transforms,omitempty" protobuf:"bytes,2,rep,name=transforms"`
	// values are further parameters, with names in capitals, and what they are for members of
	// which no override says otherwise. At most 100, of 4096 bytes each.
	// +optional
	Values map[string]string `json:"values,omitempty" protobuf:"bytes,3,rep,name=values"`
}

// Transform is a change of a template.
type Transform struct {
	// path is the JSON pointer (RFC 6901) of the field that changes, as from the template, such
	// as /spec/containers/0/ports/0/containerPort. Maps that are missing are made. The index of
	// a list must exist, or be -, which adds an entry.
	// +required
	Path string `json:"path" protobuf:"bytes,1,opt,name=path"`
	// expression is what it becomes, in CEL, with the parameters for variables, of which
	// ORDINAL is a number and the others are text. At most 4096 bytes. REPLICAS is not among
	// them, because it changes while pods run.
	// +required
	Expression string `json:"expression" protobuf:"bytes,2,opt,name=expression"`
}
