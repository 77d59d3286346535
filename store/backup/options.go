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
	// mostKeep bounds how long a list of copies gets.
	mostKeep = 10_000

	keyFileFlag   = "backup-key-file"
	plaintextFlag = "backup-insecure-plaintext"
)

// Options say where copies of the store go, and how many are kept.
type Options struct {
	// To is the URL of a place, such as file:///backups. Empty means that no copies are made.
	To string
	// Every is how long after a copy the next one is made.
	Every time.Duration
	// Keep is how many copies stay. The oldest goes when a later one was verified.
	Keep int
	// KeyFile is the file of the keys that sign and verify copies. Empty means that copies are not signed.
	// It is read for each copy, so that keys can be changed while the server runs.
	KeyFile string
	// Plaintext lets copies go to another machine without TLS.
	Plaintext bool
	// Scratch is a directory with room for three times the store.
	Scratch string
}

// NewOptions are the defaults: no copies.
func NewOptions() *Options {
	return &Options{Every: defaultEvery, Keep: defaultKeep, Scratch: os.TempDir()}
}

// AddFlags adds all flags.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.To, "backup-to", o.To,
		"Where the replica that controls copies the store to: file:///DIRECTORY, or s3://BUCKET/PREFIX?endpoint=URL&region=NAME with the credentials of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or of the machine's role. Each copy is read back and restored before it counts. Empty means that no copies are made.")
	flags.DurationVar(&o.Every, "backup-every", o.Every,
		"How long after a copy of the store the next one is made, at least "+leastEvery.String()+".")
	flags.IntVar(&o.Keep, "backup-keep", o.Keep,
		"How many verified copies of the store are kept.")
	AddKeyFile(flags, &o.KeyFile)
	flags.BoolVar(&o.Plaintext, plaintextFlag, o.Plaintext,
		"Let the endpoint of --backup-to be another machine that is reached without TLS, where everyone on the way can read and replace all sets.")
	flags.StringVar(&o.Scratch, "backup-scratch", o.Scratch,
		"Directory in which copies of the store are made and verified, with room for three times the store.")
}

// AddKeyFile adds the flag of the file of keys, which commands that restore have, too.
func AddKeyFile(flags *pflag.FlagSet, file *string) {
	flags.StringVar(file, keyFileFlag, *file,
		"File of the keys that authenticate copies of the store: a line NAME SECRET for each, with 32 random bytes in base64 as the secret. The first signs new copies, and both verify, so that a key can be changed. Empty means that copies are not signed.")
}

// ReadKeys reads the file of --backup-key-file; there are no keys without.
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

// Validate says what is wrong with the values, naming the flags.
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
