// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"statefulset.dev/store/signature"
)

const (
	defaultEvery = 6 * time.Hour
	defaultKeep  = 28
	leastEvery   = time.Minute
	// mostKeep limits the length of a list of copies.
	mostKeep = 10_000

	keyFileFlag   = "backup-key-file"
	plaintextFlag = "backup-insecure-plaintext"
)

// Options say where copies of the store are written, and how many are kept.
type Options struct {
	// To is the URL of a place, such as file:///backups. If it is empty, no copies are created.
	To string
	// Every is the interval between copies.
	Every time.Duration
	// Keep is how many copies are kept. The oldest is removed after a later one was verified.
	Keep int
	// KeyFile is the file with the keys that sign and verify copies. If it is empty, copies are not
	// signed. It is read for each copy, so that keys can be changed while the server runs.
	KeyFile string
	// Plaintext allows copies to another machine without TLS.
	Plaintext bool
	// Scratch is a directory with room for three times the store.
	Scratch string
}

// NewOptions returns the defaults: no copies.
func NewOptions() *Options {
	return &Options{Every: defaultEvery, Keep: defaultKeep, Scratch: os.TempDir()}
}

// AddFlags adds all flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.To, "backup-to", o.To,
		"Where the leading replica writes copies of the store: file:///DIRECTORY, or s3://BUCKET/PREFIX?endpoint=URL&region=NAME with the credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or those of the machine's role. Each copy is read back and restored before it counts. Empty disables the copies.")
	flags.DurationVar(&o.Every, "backup-every", o.Every,
		"Interval between copies of the store, at least "+leastEvery.String()+".")
	flags.IntVar(&o.Keep, "backup-keep", o.Keep,
		"How many verified copies of the store to keep.")
	AddKeyFile(flags, &o.KeyFile)
	flags.BoolVar(&o.Plaintext, plaintextFlag, o.Plaintext,
		"Allow an endpoint in --backup-to on another machine without TLS. Everyone on the network path can then read and replace all sets.")
	flags.StringVar(&o.Scratch, "backup-scratch", o.Scratch,
		"Directory in which copies of the store are created and verified, with room for three times the store.")
}

// AddKeyFile adds the flag for the key file, which commands that restore have, too.
func AddKeyFile(flags *pflag.FlagSet, file *string) {
	flags.StringVar(file, keyFileFlag, *file,
		"File with the keys that authenticate copies of the store: a line NAME SECRET for each, where SECRET is 32 random bytes in base64. The first key signs new copies, and all of them verify, so that you can change a key. If empty, copies are not signed.")
}

// ReadKeys reads the file of --backup-key-file. Without a file there are no keys.
func ReadKeys(file string) (signature.Keys, error) {
	if file == "" {
		return nil, nil
	}
	keys, err := signature.ReadKeys(file)
	if err != nil {
		return nil, fmt.Errorf("--%s is %q: %w", keyFileFlag, file, err)
	}
	return keys, nil
}

// Validate returns errors that name the invalid flags.
func (o *Options) Validate() []error {
	var errs []error
	if o.Every < leastEvery {
		errs = append(errs, fmt.Errorf("--backup-every is %s, must be at least %s", o.Every, leastEvery))
	}
	if o.Keep < 1 || o.Keep > mostKeep {
		errs = append(errs, fmt.Errorf("--backup-keep is %d, must be 1 to %d", o.Keep, mostKeep))
	}
	if _, err := ReadKeys(o.KeyFile); err != nil {
		errs = append(errs, err)
	}
	if o.To == "" {
		return errs
	}
	if info, err := os.Stat(o.Scratch); err != nil || !info.IsDir() {
		errs = append(errs, fmt.Errorf("--backup-scratch is %q, must be a directory", o.Scratch))
	}
	return errs
}
