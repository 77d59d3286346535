// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// GeneratedKey is a key of a Secret, for which a random text is drawn when the Secret is created.
type GeneratedKey struct {
	// key is that of the Secret's data.
	// +required
	// +k8s:required
	Key string `json:"key" protobuf:"bytes,1,opt,name=key"`
	// bytes is how many random bytes are drawn, from 16 to 64. The text has four characters for
	// three of them: it is base64 as in URLs, without padding.
	// +required
	// +k8s:required
	Bytes int32 `json:"bytes" protobuf:"varint,2,opt,name=bytes"`
}

// GeneratedAnnotation is on a Secret that was created with random texts, and names their keys. On a
// claim or a pod it names the Secrets with such texts that its member has been given, those of the set
// among them. As long as a claim or a pod of the set names a Secret, no texts are drawn for one of its
// name: data may have been written with them. Names are separated by commas, the
// latest last; the first of more than 64 are forgotten.
const GeneratedAnnotation = GroupName + "/generated"
