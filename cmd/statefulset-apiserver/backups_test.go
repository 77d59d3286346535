// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"statefulset.dev/store/backup"
)

func TestWhereCopiesGoIsCheckedAtTheStart(t *testing.T) {
	there := t.TempDir()
	file := filepath.Join(there, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	to := func(url string) func(*backup.Options) { return func(o *backup.Options) { o.To = url } }
	cases := map[string]struct {
		change func(*backup.Options)
		want   string
	}{
		"nowhere, the default":          {func(*backup.Options) {}, ""},
		"a directory that is there":     {to("file://" + there), ""},
		"a bucket":                      {to("s3://copies/sets"), ""},
		"a directory that is not there": {to("file://" + there + "/missing"), `--backup-to is "file://` + there + `/missing"`},
		"a file":                        {to("file://" + file), "it is not a directory"},
		"a path that depends on where":  {to("file://copies"), "must be file:/// and an absolute path"},
		"what is no URL":                {to("/copies"), "want a URL that begins with file:/// or s3://"},
		"another protocol":              {to("ftp://copies"), `--backup-to is "ftp://copies"`},
		"a bucket with a word too many": {to("s3://copies?acl=public"), `unknown parameter "acl"`},
		"all the time":                  {func(o *backup.Options) { o.Every = time.Second }, "--backup-every is 1s, must be at least 1m0s"},
		"none is kept":                  {func(o *backup.Options) { o.Keep = 0 }, "--backup-keep is 0, must be 1 to 10000"},
		"a scratch directory that is a file": {
			func(o *backup.Options) { o.To, o.Scratch = "file://"+there, file }, `--backup-scratch is "` + file + `"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			options := backup.NewOptions()
			c.change(options)
			err := copies{options: options}.validate()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got error %v, want one that says %q", err, c.want)
			}
		})
	}
}
