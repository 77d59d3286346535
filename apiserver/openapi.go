// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"

	"statefulset.dev/apiserver/scheme"
	definitions "statefulset.dev/openapi"
)

const apiTitle = "statefulset-apiserver"

// applyOpenAPI publishes both versions of the schema: server-side apply needs version 3, and the
// host cluster merges version 2 into its own document.
func applyOpenAPI(generic *genericapiserver.Config) {
	namer := openapi.NewDefinitionNamer(scheme.NewNaming())

	generic.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions.GetOpenAPIDefinitions, namer)
	generic.OpenAPIConfig.Info.Title = apiTitle

	generic.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions.GetOpenAPIDefinitions, namer)
	generic.OpenAPIV3Config.Info.Title = apiTitle
}
