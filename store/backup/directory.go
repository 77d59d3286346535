// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
)

// Place keeps copies. None of its functions may be called for two files of one name at a time.
type Place interface {
	// List tells the names of what is there, of other things too, in no order.
	List(ctx context.Context) ([]string, error)
	// Put writes a new file of a size.
	Put(ctx context.Context, name string, from io.Reader, size int64) error
	// Get reads a file.
	Get(ctx context.Context, name string, to io.Writer) error
	// Rename gives a file another name at which there is none.
	Rename(ctx context.Context, from, to string) error
	// Remove removes a file. It may be gone already.
	Remove(ctx context.Context, name string) error
}

// Directory is a place in the file system.
type Directory struct{ path string }

// OpenDirectory opens the directory of a URL such as file:///backups. It must be there: to make one
// would hide that a volume is not mounted.
func OpenDirectory(at *url.URL) (*Directory, error) {
	if at.Host != "" || !filepath.IsAbs(at.Path) || at.RawQuery != "" {
		return nil, fmt.Errorf("%q: want file:/// and an absolute path", at.Redacted())
	}
	info, err := os.Stat(at.Path) //nolint:gosec // who starts the server says where copies go
	if err != nil {
		return nil, fmt.Errorf("%q: %w", at.Redacted(), err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%q: it is no directory", at.Redacted())
	}
	return &Directory{at.Path}, nil
}

// List tells the names of all files.
func (d *Directory) List(context.Context) ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// Put returns when the file is on disk.
func (d *Directory) Put(ctx context.Context, name string, from io.Reader, _ int64) error {
	file, err := os.OpenFile(d.file(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, untilDone{ctx, from})
	return errors.Join(err, file.Sync(), file.Close(), d.sync())
}

// Get reads the file.
func (d *Directory) Get(ctx context.Context, name string, to io.Writer) error {
	file, err := os.Open(d.file(name))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, untilDone{ctx, file})
	return errors.Join(err, file.Close())
}

// Rename returns when the name is on disk.
func (d *Directory) Rename(_ context.Context, from, to string) error {
	return errors.Join(os.Rename(d.file(from), d.file(to)), d.sync())
}

// Remove removes the file.
func (d *Directory) Remove(_ context.Context, name string) error {
	err := os.Remove(d.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

func (d *Directory) file(name string) string { return filepath.Join(d.path, name) }

// sync writes the names of the directory to disk.
func (d *Directory) sync() error {
	dir, err := os.Open(d.path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// untilDone reads until a context ends.
type untilDone struct {
	ctx  context.Context
	from io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
