// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package signature

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

const (
	// mostKeys are the one that signs, and the one before it.
	mostKeys = 2
	// A secret has as many bytes as the hash at least, and as the hash takes at once at most.
	leastSecret, mostSecret = 32, 64
	// mostKeyFile bounds how much of a file is read, in bytes.
	mostKeyFile = 64 << 10
)

var keyName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)

// Key is a secret by whose name a signature refers to it.
type Key struct {
	Name   string
	secret []byte
}

// Keys are those of a file. The first signs, and all verify.
type Keys []Key

// ReadKeys reads a file that has a line "NAME SECRET" for each key, at most two, with 32 to 64 bytes in
// base64 as the secret. Empty lines and those that begin with # are left out. Errors name the line and
// never the secret.
func ReadKeys(path string) (Keys, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(file, mostKeyFile+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if len(content) > mostKeyFile {
		return nil, fmt.Errorf("it has more than %d bytes, want one line NAME SECRET for each of at most %d keys", mostKeyFile, mostKeys)
	}
	var keys Keys
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := parseKey(line)
		if err == nil && keys.named(key.Name) != nil {
			err = fmt.Errorf("key %q is there twice, want a name of its own for each key", key.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 || len(keys) > mostKeys {
		return nil, fmt.Errorf("it has %d keys, want one, or two while keys are changed", len(keys))
	}
	return keys, nil
}

func parseKey(line string) (Key, error) {
	fields := strings.Fields(line)
	if len(fields) != 2 {
		return Key{}, fmt.Errorf("it has %d words, want NAME SECRET", len(fields))
	}
	if !keyName.MatchString(fields[0]) {
		return Key{}, errors.New("the name of the key must have 1 to 63 letters, digits, and -, _ or . between them")
	}
	secret, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return Key{}, fmt.Errorf("the secret of key %q is not base64, want what head -c 32 /dev/urandom | base64 prints", fields[0])
	}
	if len(secret) < leastSecret || len(secret) > mostSecret {
		return Key{}, fmt.Errorf("the secret of key %q has %d bytes, must have %d to %d", fields[0], len(secret), leastSecret, mostSecret)
	}
	return Key{Name: fields[0], secret: secret}, nil
}

// named is the key of a name, nil if there is none.
func (k Keys) named(name string) *Key {
	for i := range k {
		if k[i].Name == name {
			return &k[i]
		}
	}
	return nil
}

// names are for messages.
func (k Keys) names() string {
	var names []string
	for _, key := range k {
		names = append(names, fmt.Sprintf("%q", key.Name))
	}
	return strings.Join(names, " and ")
}
