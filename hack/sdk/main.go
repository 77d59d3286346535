// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command sdk derives schemas, and the input of client generators, from the published OpenAPI
// document.
//
//	sdk schemas  --document FILE --out DIR               writes a JSON schema for each kind
//	sdk prepare  --document FILE --out FILE --for NAME   writes the document for a generator: typescript, python or java
//	sdk breaking --document FILE --before FILE --changelog FILE
//	                                                     fails if a client made from the earlier document would break
//	sdk check    --schemas DIR FILE...                   checks manifests and objects, in YAML or JSON, against the schemas
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "sdk: %v\n", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("want one of the commands schemas, prepare, breaking and check")

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	path := flags.String("document", "openapi/v3/apps.statefulset.dev_v1.json", "the published `document`")
	to := flags.String("out", "", "file or directory to write `to`")
	language := flags.String("for", "", "`language` to prepare for")
	before := flags.String("before", "", "the `document` of an earlier release")
	changelog := flags.String("changelog", "CHANGELOG.md", "`file` that lists intended breaking changes")
	schemas := flags.String("schemas", "openapi/schemas", "`directory` of the JSON schemas")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if args[0] == "check" {
		return check(*schemas, flags.Args(), out)
	}
	d, err := read(*path)
	if err != nil {
		return err
	}
	switch args[0] {
	case "schemas":
		return d.writeSchemas(*to)
	case "prepare":
		if err := d.prepare(*language); err != nil {
			return err
		}
		return write(*to, d)
	case "breaking":
		earlier, err := read(*before)
		if err != nil {
			return err
		}
		return unexplained(breaking(earlier, d), *changelog)
	}
	return errUsage
}
