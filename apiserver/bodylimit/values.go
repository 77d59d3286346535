// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package bodylimit

import (
	"bytes"
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"sigs.k8s.io/yaml"
)

// Values are the parts of a body: objects, and members of objects and lists. An empty container
// takes three bytes in a body and almost a kilobyte after decoding, so the number of values, and
// not the size of the body, determines the cost of decoding it.

// protobufPrefix is the beginning of each protobuf message of Kubernetes.
const protobufPrefix = "k8s\x00"

// estimateValues returns the maximum number of values of a body before it is decoded. Only YAML
// with aliases and patches that copy may produce more values. For these, it returns at least the
// allowed number.
func estimateValues(contentType string, body []byte) int {
	if message, ok := bytes.CutPrefix(body, []byte(protobufPrefix)); ok {
		return valuesInProtobuf(message, deepestProtobuf)
	}
	switch {
	case strings.Contains(strings.ToLower(contentType), "cbor"):
		return valuesInCBOR(body)
	case !isYAML(contentType) || json.Valid(body):
		n := valuesInJSON(body)
		if strings.Contains(contentType, "json-patch") && mayCopy(body) {
			return max(n, MostValues)
		}
		return n
	case bytes.IndexByte(body, '*') >= 0:
		return max(valuesInYAML(body), MostValues)
	default:
		return valuesInYAML(body)
	}
}

// exactValues returns the number of values of a body whose aliases must be resolved to count them.
// For a body that cannot be decoded, it returns 0.
func exactValues(contentType string, body []byte) int {
	if !isYAML(contentType) || bytes.IndexByte(body, '*') < 0 || json.Valid(body) {
		return 0
	}
	resolved, err := yaml.YAMLToJSON(body)
	if err != nil {
		return 0
	}
	return valuesInJSON(resolved)
}

// mayCopy reports whether a patch may copy values. An escape sequence may hide the word.
func mayCopy(patch []byte) bool {
	return bytes.Contains(patch, []byte("copy")) || bytes.IndexByte(patch, '\\') >= 0
}

func isYAML(contentType string) bool { return strings.Contains(strings.ToLower(contentType), "yaml") }

// valuesInJSON counts the beginnings of values outside of strings. The count for invalid JSON does
// not matter, because it is refused before it is decoded.
func valuesInJSON(body []byte) (n int) {
	inString := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '{' || c == '[' || c == ','):
			n++
		}
	}
	return n
}

// valuesInYAML counts the characters that may begin a value. It counts too many in strings, because
// quotes alone do not show where a YAML string begins and ends.
func valuesInYAML(body []byte) (n int) {
	for _, c := range body {
		switch c {
		case '\n', '\r', '{', '[', ',', '-', '?':
			n++
		}
	}
	return n
}

// valuesInCBOR counts the heads of data items, including keys. Their nesting does not matter, and
// neither does the count after a truncated item, because such a body is refused before it is
// decoded.
func valuesInCBOR(body []byte) (n int) {
	const byteString, textString = 2, 3 // the kinds whose contents are not items
	for len(body) > 0 && n <= MostValues {
		kind, info := body[0]>>5, body[0]&0x1f
		body = body[1:]
		n++
		argument := uint64(info)
		if size := 1 << (info - 24); info >= 24 && info <= 27 {
			if len(body) < size {
				return n
			}
			argument = 0
			for _, b := range body[:size] {
				argument = argument<<8 | uint64(b)
			}
			body = body[size:]
		}
		// The chunks of a string of indefinite length are strings of their own.
		if (kind == byteString || kind == textString) && info <= 27 {
			if argument > uint64(len(body)) {
				return n
			}
			body = body[argument:]
		}
	}
	return n
}

// deepestProtobuf is deeper than the nesting of any type of the API.
const deepestProtobuf = 64

// valuesInProtobuf counts the fields of a message, and the fields of everything in it that may be a
// message. It counts a string that could be a message as one.
func valuesInProtobuf(message []byte, depth int) (n int) {
	for len(message) > 0 && n <= MostValues {
		_, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return n
		}
		message = message[tag:]
		n++
		if kind != protowire.BytesType {
			size := protowire.ConsumeFieldValue(1, kind, message)
			if size < 0 {
				return n
			}
			message = message[size:]
			continue
		}
		field, size := protowire.ConsumeBytes(message)
		if size < 0 {
			return n
		}
		message = message[size:]
		if depth > 0 {
			n += valuesInProtobuf(field, depth-1)
		}
	}
	return n
}
