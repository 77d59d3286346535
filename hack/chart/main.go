// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command chart renders the chart to manifests for users without Helm.
//
//	chart [--artifacts DIR]
//
// Its module also pins the version of Helm that tests use: go build helm.sh/helm/v4/cmd/helm.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	artifacts := flag.String("artifacts", "artifacts", "`directory` with the chart, to which the manifests are written")
	flag.Parse()
	if err := run(*artifacts); err != nil {
		fmt.Fprintf(os.Stderr, "chart: %v\n", err)
		os.Exit(1)
	}
}

func run(artifacts string) error {
	for _, k := range kustomizations() {
		files, err := render(filepath.Join(artifacts, "chart"), k.values)
		if err != nil {
			return err
		}
		if err := k.write(artifacts, files); err != nil {
			return err
		}
	}
	for _, a := range additions() {
		if err := a.write(artifacts); err != nil {
			return err
		}
	}
	return nil
}
