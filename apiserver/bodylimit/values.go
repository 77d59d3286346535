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

// Values are what a body is made of: objects, and members of objects and lists. An
// empty container takes three bytes in a body and almost a kilobyte when it was read,
// so it is their number, and not the size of the body, that tells what reading costs.

// protobufPrefix begins what Kubernetes sends as protobuf.
const protobufPrefix = "k8s\x00"

// estimateValues is how many values a body has at most, before it is read. Only YAML
// with aliases and patches that copy may make more of it; they are said to have as many
// as are allowed.
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

// exactValues is how many values a body has, where that is known only when its aliases
// are resolved. What cannot be read has none.
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

// mayCopy reports whether a patch may copy values; an escape may hide the word.
func mayCopy(patch []byte) bool {
	return bytes.Contains(patch, []byte("copy")) || bytes.IndexByte(patch, '\\') >= 0
}

func isYAML(contentType string) bool { return strings.Contains(strings.ToLower(contentType), "yaml") }

// valuesInJSON counts where a value begins, outside of strings. JSON that is not valid
// is refused before anything is made of it, so its number does not matter.
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

// valuesInYAML counts what may begin a value. In a text it counts too much: where a text
// of YAML begins and ends is not told by its quotes alone.
func valuesInYAML(body []byte) (n int) {
	for _, c := range body {
		switch c {
		case '\n', '\r', '{', '[', ',', '-', '?':
			n++
		}
	}
	return n
}

// valuesInCBOR counts the heads of data items, keys among them. How they are nested does not
// matter, and neither does what follows where an item is cut off: that is refused before
// anything is made of it.
func valuesInCBOR(body []byte) (n int) {
	const byteString, textString = 2, 3 // the kinds whose contents are no items
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
		// Pieces of a string of no given length come as strings of their own.
		if (kind == byteString || kind == textString) && info <= 27 {
			if argument > uint64(len(body)) {
				return n
			}
			body = body[argument:]
		}
	}
	return n
}

// deepestProtobuf is more levels than any type of the API has.
const deepestProtobuf = 64

// valuesInProtobuf counts the fields of a message, and those of whatever may be a
// message in it. A text that could be a message is counted as one.
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
