// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"slices"
	"strings"
)

// Program is a program that can be started.
type Program struct {
	// Name distinguishes its log from others. It need not be the name of the executable.
	Name string
	Exe  string
	Args Args
	// Ready returns nil as soon as the program can be used. If it is nil, the program is ready at
	// once.
	Ready func(context.Context) error
}

// Args are command line arguments of the form --name=value.
type Args []string

// With returns the arguments with a flag set to a value, instead of any previous value.
func (a Args) With(name, value string) Args {
	return append(a.Without(name), "--"+name+"="+value)
}

// Without returns the arguments without a flag.
func (a Args) Without(name string) Args {
	return slices.DeleteFunc(slices.Clone(a), func(arg string) bool {
		return arg == "--"+name || strings.HasPrefix(arg, "--"+name+"=")
	})
}

// Get returns the value of a flag, empty if it is not set.
func (a Args) Get(name string) string {
	for _, arg := range slices.Backward(a) {
		if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
			return value
		}
	}
	return ""
}
