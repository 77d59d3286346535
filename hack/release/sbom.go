// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// billOfMaterials returns the bill of materials of a program in the format of CycloneDX, from the
// build information that the linker has written into the program.
func billOfMaterials(program []byte, version string, created time.Time) ([]byte, error) {
	built, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, fmt.Errorf("reading the build information of a program: %w", err)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: created.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: built.Path, Type: cyclonedx.ComponentTypeApplication, Name: path.Base(built.Path), Version: version,
			Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(program))}},
		},
	}
	components, needs := []cyclonedx.Component{}, []string{}
	for _, module := range append(built.Deps, standardLibrary(built.GoVersion)) {
		c := componentOf(module)
		components, needs = append(components, c), append(needs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: built.Path, Dependencies: &needs}}
	var out bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return nil, fmt.Errorf("writing a bill of materials: %w", err)
	}
	return out.Bytes(), nil
}

func standardLibrary(goVersion string) *debug.Module {
	return &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(goVersion, "go")}
}

func componentOf(module *debug.Module) cyclonedx.Component {
	if module.Replace != nil {
		module = module.Replace
	}
	purl := "pkg:golang/" + module.Path + "@" + module.Version
	c := cyclonedx.Component{BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: purl}
	if module.Sum != "" {
		c.Properties = &[]cyclonedx.Property{{Name: "go:sum", Value: module.Sum}}
	}
	return c
}
