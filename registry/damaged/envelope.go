// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package damaged

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// magic is the prefix of an envelope. No encoding of an object begins with a zero byte.
const magic = "\x00damaged\x00"

// envelope is a stored value, as the transformer passes it to the codec.
type envelope struct {
	mode mode
	key  string
	// fault is the reason why the value could not be transformed. It is empty if it could.
	fault string
	value []byte
}

func (e envelope) seal() []byte {
	sealed := make([]byte, 0, len(magic)+1+2*binary.MaxVarintLen64+len(e.key)+len(e.fault)+len(e.value))
	sealed = append(sealed, magic...)
	sealed = append(sealed, byte(e.mode))
	sealed = append(binary.AppendUvarint(sealed, uint64(len(e.key))), e.key...)
	sealed = append(binary.AppendUvarint(sealed, uint64(len(e.fault))), e.fault...)
	return append(sealed, e.value...)
}

// openEnvelope reports false for data that are not an envelope. Only the transformer can create
// one: it puts every value from etcd into an envelope, or rejects it if it looks like one.
func openEnvelope(data []byte) (envelope, bool) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(rest) == 0 {
		return envelope{}, false
	}
	e := envelope{mode: mode(rest[0])}
	rest = rest[1:]
	for _, text := range []*string{&e.key, &e.fault} {
		length, n := binary.Uvarint(rest)
		if n <= 0 || length > uint64(len(rest)-n) { //nolint:gosec // what is left is not negative
			return envelope{}, false
		}
		*text, rest = string(rest[n:n+int(length)]), rest[n+int(length):] //nolint:gosec // at most what is left
	}
	e.value = rest
	return e, true
}

// namesOf returns the namespace and the name at the end of a key.
func namesOf(key string) (namespace, name string, err error) {
	parts := strings.Split(key, "/")
	if len(parts) < 2 || parts[len(parts)-1] == "" || parts[len(parts)-2] == "" {
		return "", "", errors.New("the key does not end with a namespace and a name")
	}
	return parts[len(parts)-2], parts[len(parts)-1], nil
}
