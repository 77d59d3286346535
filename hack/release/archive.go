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

// tarGz is an archive of files. It depends on nothing else.
func tarGz(created time.Time, entries []archived) ([]byte, error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	w := tar.NewWriter(zipped)
	for _, e := range entries {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: e.mode, Size: int64(len(e.content)), ModTime: created, Format: tar.FormatPAX}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("writing an archive: %w", err)
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, fmt.Errorf("writing an archive: %w", err)
		}
	}
	if err := errors.Join(w.Close(), zipped.Close()); err != nil {
		return nil, fmt.Errorf("writing an archive: %w", err)
	}
	return out.Bytes(), nil
}
