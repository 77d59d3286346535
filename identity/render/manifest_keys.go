// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// mostNesting is the maximum depth of a manifest.
const mostNesting = 64

// CheckKeys returns an error for the first key of a manifest that another program could read in
// another way: a key that appears twice in its object, or that differs from a known key of
// Kubernetes only in case. It returns nil for text that ReadManifest rejects. in is the path of the
// manifest below spec. The work is proportional to the length of the text.
func CheckKeys(raw []byte, in string) *Error {
	if _, unreadable := ReadManifest(raw, in); unreadable != nil {
		return nil //nolint:nilerr // the reader of the manifest reports the error
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return (&keyCheck{decoder: decoder, in: in}).value()
}

// topKeys are the known keys at the top of a manifest, here or in Kubernetes.
func topKeys() []string {
	return []string{"apiVersion", "kind", "metadata", "spec", "status", "data", "stringData", "binaryData", "type", "immutable"}
}

// metadataKeys are the keys of metadata in Kubernetes.
func metadataKeys() []string {
	return []string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
		"labels", "annotations", "ownerReferences", "finalizers", "managedFields"}
}

// keyCheck checks the keys of a manifest that is a JSON object.
type keyCheck struct {
	decoder *json.Decoder
	in      string
	// at are the keys and indices of the next value.
	at []string
}

func (c *keyCheck) value() *Error {
	token, err := c.decoder.Token()
	if err != nil {
		return c.errorf("", "%s", err)
	}
	switch token {
	case json.Delim('{'), json.Delim('['):
	default:
		return nil
	}
	if len(c.at) >= mostNesting {
		return c.errorf("", "must not have more than %d levels", mostNesting)
	}
	if token == json.Delim('[') {
		return c.items()
	}
	return c.fields()
}

func (c *keyCheck) items() *Error {
	for i := 0; c.decoder.More(); i++ {
		if wrong := c.below(fmt.Sprintf("[%d]", i)); wrong != nil {
			return wrong
		}
	}
	return c.end()
}

func (c *keyCheck) fields() *Error {
	seen := map[string]bool{}
	for c.decoder.More() {
		token, err := c.decoder.Token()
		if err != nil {
			return c.errorf("", "%s", err)
		}
		key, _ := token.(string)
		if seen[key] {
			return c.errorf(key, "the key appears twice; write each key once")
		}
		seen[key] = true
		if known := c.resembled(key); known != "" {
			return c.errorf(key, "the key differs from %q only in case, and keys are case-sensitive; write %q, or use another key", known, known)
		}
		if wrong := c.below(key); wrong != nil {
			return wrong
		}
	}
	return c.end()
}

func (c *keyCheck) below(key string) *Error {
	c.at = append(c.at, key)
	wrong := c.value()
	c.at = c.at[:len(c.at)-1]
	return wrong
}

// end reads the bracket that closes an object or a list.
func (c *keyCheck) end() *Error {
	if _, err := c.decoder.Token(); err != nil {
		return c.errorf("", "%s", err)
	}
	return nil
}

// resembled is the known key from which a key of the current object differs only in case. It is
// empty if there is none.
func (c *keyCheck) resembled(key string) string {
	var known []string
	switch {
	case len(c.at) == 0:
		known = topKeys()
	case len(c.at) == 1 && c.at[0] == "metadata":
		known = metadataKeys()
	}
	for _, one := range known {
		if key != one && strings.EqualFold(key, one) {
			return one
		}
	}
	return ""
}

// errorf is an error about a key of the current object. Keys may be long, so they are cut.
func (c *keyCheck) errorf(key, format string, args ...any) *Error {
	var in strings.Builder
	in.WriteString(c.in)
	for _, one := range c.at {
		if !strings.HasPrefix(one, "[") {
			in.WriteByte('.')
		}
		in.WriteString(cut(one))
	}
	return errorf(in.String(), "", cut(key), format, args...)
}

func cut(key string) string {
	const most = 63
	if len(key) <= most {
		return key
	}
	return strings.ToValidUTF8(key[:most], "") + "..."
}
