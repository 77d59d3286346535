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
	// mostKeys allows the key that signs, and its predecessor.
	mostKeys = 2
	// A secret has at least as many bytes as the hash, and at most as many as a block of the hash.
	leastSecret, mostSecret = 32, 64
	// mostKeyFile limits how much of a file is read, in bytes.
	mostKeyFile = 64 << 10
)

var keyName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$`)

// Key is a secret with a name, by which a signature refers to it.
type Key struct {
	Name   string
	secret []byte
}

// Keys are the keys of a file. The first signs, and all verify.
type Keys []Key

// ReadKeys reads a file with a line "NAME SECRET" for each key, at most two, where SECRET is 32 to
// 64 bytes in base64. Empty lines and lines that begin with # are ignored. Errors name the line and
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
		return nil, fmt.Errorf("it has more than %d bytes: it must have one line NAME SECRET for each of at most %d keys", mostKeyFile, mostKeys)
	}
	var keys Keys
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := parseKey(line)
		if err == nil && keys.named(key.Name) != nil {
			err = fmt.Errorf("key %q occurs twice: give each key its own name", key.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 || len(keys) > mostKeys {
		return nil, fmt.Errorf("it has %d keys: it must have one, or two while you change keys", len(keys))
	}
	return keys, nil
}

func parseKey(line string) (Key, error) {
	fields := strings.Fields(line)
	if len(fields) != 2 {
		return Key{}, fmt.Errorf("it has %d words, must be NAME SECRET", len(fields))
	}
	if !keyName.MatchString(fields[0]) {
		return Key{}, errors.New("the name of the key must have 1 to 63 letters, digits, and -, _ or . between them")
	}
	secret, err := base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return Key{}, fmt.Errorf("the secret of key %q is not base64: use the output of head -c 32 /dev/urandom | base64", fields[0])
	}
	if len(secret) < leastSecret || len(secret) > mostSecret {
		return Key{}, fmt.Errorf("the secret of key %q has %d bytes, must have %d to %d", fields[0], len(secret), leastSecret, mostSecret)
	}
	return Key{Name: fields[0], secret: secret}, nil
}

// named returns the key with a name, nil if there is none.
func (k Keys) named(name string) *Key {
	for i := range k {
		if k[i].Name == name {
			return &k[i]
		}
	}
	return nil
}

// names are the names of the keys, for messages.
func (k Keys) names() string {
	var names []string
	for _, key := range k {
		names = append(names, fmt.Sprintf("%q", key.Name))
	}
	return strings.Join(names, " and ")
}
