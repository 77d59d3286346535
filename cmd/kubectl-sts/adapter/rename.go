// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// place is the path of a value in a document: the keys that lead to it, with each for any element
// of a list.
type (
	place  []string
	places []place
)

const each = "*"

// below returns the remainder of the places that begin with the key.
func (p places) below(key string) places {
	var rest places
	for _, place := range p {
		if len(place) > 0 && place[0] == key {
			rest = append(rest, place[1:])
		}
	}
	return rest
}

// here reports whether one of the places is the current value.
func (p places) here() bool {
	return slices.ContainsFunc(p, func(place place) bool { return len(place) == 0 })
}

// renamed returns a JSON document in which to replaces the string from at the wanted places. All
// other bytes stay: the order of keys, the digits of numbers, and fields that this program does not
// know.
func renamed(document []byte, wanted places, from, to string) ([]byte, error) {
	r := renaming{document: document, decoder: json.NewDecoder(bytes.NewReader(document)), from: from}
	r.decoder.UseNumber()
	if err := r.value(wanted); err != nil {
		return nil, fmt.Errorf("invalid JSON: %w", err)
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("invalid JSON: more than one document")
	}
	return r.result(to)
}

type renaming struct {
	document []byte
	decoder  *json.Decoder
	from     string
	found    []span
}

// span is the position of a string, including its quotes.
type span struct{ begin, end int }

func (r *renaming) value(wanted places) error {
	if len(wanted) == 0 {
		var skipped json.RawMessage
		return r.decoder.Decode(&skipped)
	}
	before := int(r.decoder.InputOffset())
	token, err := r.decoder.Token()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		return r.object(wanted)
	case json.Delim('['):
		return r.list(wanted)
	case r.from:
		if wanted.here() {
			begin := before + bytes.IndexByte(r.document[before:], '"')
			r.found = append(r.found, span{begin, int(r.decoder.InputOffset())})
		}
	}
	return nil
}

func (r *renaming) object(wanted places) error {
	for r.decoder.More() {
		key, err := r.decoder.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if err := r.value(wanted.below(name)); err != nil {
			return err
		}
	}
	_, err := r.decoder.Token()
	return err
}

func (r *renaming) list(wanted places) error {
	for r.decoder.More() {
		if err := r.value(wanted.below(each)); err != nil {
			return err
		}
	}
	_, err := r.decoder.Token()
	return err
}

func (r *renaming) result(to string) ([]byte, error) {
	if len(r.found) == 0 {
		return r.document, nil
	}
	replacement, err := json.Marshal(to)
	if err != nil {
		return nil, fmt.Errorf("encoding %q: %w", to, err)
	}
	result := make([]byte, 0, len(r.document)+len(r.found)*len(replacement))
	kept := 0
	for _, s := range r.found {
		result = append(append(result, r.document[kept:s.begin]...), replacement...)
		kept = s.end
	}
	return append(result, r.document[kept:]...), nil
}
