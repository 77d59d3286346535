// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"time"
)

// archived is a file of an archive.
type archived struct {
	name    string
	mode    int64
	content []byte
}

// tarGz returns an archive of files. Its bytes depend only on the arguments.
func tarGz(created time.Time, entries []archived) ([]byte, error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		if err := addTo(w, tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode}, created, e.content); err != nil {
			return nil, fmt.Errorf("writing an archive: %w", err)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		return nil, fmt.Errorf("writing an archive: %w", err)
	}
	return out.Bytes(), nil
}

// addTo writes an entry and its content.
func addTo(w *tar.Writer, h tar.Header, created time.Time, content []byte) error {
	h.ModTime, h.Size, h.Format = created, int64(len(content)), tar.FormatPAX
	if err := w.WriteHeader(&h); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}
