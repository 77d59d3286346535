// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Command models prints the schemas of our types as an OpenAPI document of version 2 that has nothing else,
// which applyconfiguration-gen reads: by them, clients know which fields of an object are whose.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	v1 "statefulset.dev/api/apps/v1"
	"statefulset.dev/openapi"
)

// known is the name by which applyconfiguration-gen looks for our kind: it takes the package's for that of
// its models. hack/generate.sh puts the right one into what is generated.
const known = "dev.statefulset.api.apps.v1.StatefulSet"

func main() {
	definitions := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + name)
	})
	schemas := make(spec.Definitions, len(definitions))
	for name, definition := range definitions {
		schemas[name] = definition.Schema
		// What is a number or a text is described for each version of OpenAPI.
		if second, ok := definition.Schema.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
			schemas[name] = second
		}
	}
	schemas[known] = schemas[v1.StatefulSet{}.OpenAPIModelName()]
	document := spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger: "2.0", Definitions: schemas, Info: &spec.Info{InfoProps: spec.InfoProps{Title: "models", Version: "v1"}},
	}}
	if err := json.NewEncoder(os.Stdout).Encode(document); err != nil {
		fmt.Fprintf(os.Stderr, "models: %v\n", err)
		os.Exit(1)
	}
}
