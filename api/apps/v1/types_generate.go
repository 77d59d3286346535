// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// GeneratedKey is a key of a Secret whose value is generated when the Secret is created.
type GeneratedKey struct {
	// key is the key in the data of the Secret.
	// +required
	// +k8s:required
	Key string `json:"key" protobuf:"bytes,1,opt,name=key"`
	// bytes is the number of random bytes that are generated, from 16 to 64. The value is their
	// base64 encoding for URLs, without padding: four characters for three bytes.
	// +required
	// +k8s:required
	Bytes int32 `json:"bytes" protobuf:"varint,2,opt,name=bytes"`
}

// GeneratedAnnotation is on Secrets, claims and pods. On a Secret that was created with generated
// values, it names their keys. On a claim or a pod, it names the generated Secrets that its member
// has used, including those of the set. While a claim or a pod of the set names a Secret, the
// controller does not generate a Secret of that name: data may have been written with the earlier
// values. The names are separated by commas, the latest last. The annotation has at most 64 names;
// the oldest are dropped.
const GeneratedAnnotation = GroupName + "/generated"
