// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package adapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// frames is the body of a watch, translated event by event. It buffers one event at a time, and
// passes it on as soon as its last byte has arrived.
type frames struct {
	source  io.ReadCloser
	decoder *json.Decoder
	pending []byte
	failure error
}

func newFrames(source io.ReadCloser) *frames {
	return &frames{source: source, decoder: json.NewDecoder(source)}
}

func (f *frames) Read(into []byte) (int, error) {
	for len(f.pending) == 0 {
		if f.failure == nil {
			f.pending, f.failure = f.next()
		}
		if f.failure != nil {
			return 0, f.failure
		}
	}
	n := copy(into, f.pending)
	f.pending = f.pending[n:]
	return n, nil
}

func (f *frames) next() ([]byte, error) {
	var event json.RawMessage
	if err := f.decoder.Decode(&event); err != nil {
		if _, invalid := errors.AsType[*json.SyntaxError](err); invalid {
			return nil, fmt.Errorf("reading an event of a watch: %w", err)
		}
		return nil, err
	}
	translated, err := eventAsBuiltIn(event)
	if err != nil {
		return nil, fmt.Errorf("reading an event of a watch: %w", err)
	}
	return append(translated, '\n'), nil
}

func (f *frames) Close() error {
	return f.source.Close()
}
