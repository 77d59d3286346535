// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Names of the types that generators cannot be trusted with.
const (
	intOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
	quantity    = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	timestamp   = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"
)

// languages say for each language what stands for these types. Java's are classes of our own; openapi-generator
// 4.3.1 fails with any oneOf.
func languages() map[string]map[string]object {
	return map[string]map[string]object{
		"typescript": {
			quantity:  {"type": "string"},
			timestamp: {"type": "string", "format": "date-time"},
		},
		"python": {
			intOrString: {"type": "object"},
			quantity:    {"type": "string"},
			timestamp:   {"type": "string", "format": "date-time"},
		},
		"java": {
			intOrString: {"type": "string", "format": "int-or-string"},
			quantity:    {"type": "string", "format": "quantity"},
			timestamp:   {"type": "string", "format": "date-time"},
		},
	}
}

// prepare makes of the published document one that generators can read, and that names things as the clients
// of Kubernetes do.
func (d document) prepare(language string) error {
	own, ok := languages()[language]
	if !ok {
		return fmt.Errorf("language %q: want one of %s", language, strings.Join(slices.Sorted(maps.Keys(languages())), ", "))
	}
	d.dropDeprecatedWatches()
	d.keepJSON()
	d.letPlansTakeAnyBody()
	d.shortenOperations()
	d.dropDefaults()
	d.nameToken()
	d.inline(own, language != "typescript")
	if language != "typescript" {
		d.collapse()
		d.openEnums()
	}
	return d.shortenModels()
}

// dropDeprecatedWatches removes the paths below /watch: to watch is a parameter of list.
func (d document) dropDeprecatedWatches() {
	maps.DeleteFunc(d.paths(), func(path string, _ any) bool { return strings.Contains(path, "/watch/") })
}

// keepJSON leaves one encoding of every body and answer. Patches keep their four kinds.
func (d document) keepJSON() {
	d.operations(func(_, _ string, operation object) {
		if content := at(operation, "requestBody", "content"); content["*/*"] != nil {
			content["application/json"] = content["*/*"]
			delete(content, "*/*")
		}
		for code := range at(operation, "responses") {
			content := at(operation, "responses", code, "content")
			maps.DeleteFunc(content, func(kind string, _ any) bool { return kind != "application/json" })
		}
	})
}

// letPlansTakeAnyBody says of the plan what one schema cannot: a set, a Scale, a StatefulSetReplacement or a
// StatefulSetRollout may be proposed.
func (d document) letPlansTakeAnyBody() {
	d.operations(func(path, method string, operation object) {
		if strings.HasSuffix(path, "/plan") && method == "post" {
			at(operation, "requestBody", "content", "application/json")["schema"] = object{"type": "object"}
		}
	})
}

// shortenOperations leaves out the group: there is only one.
func (d document) shortenOperations() {
	d.operations(func(_, _ string, operation object) {
		id, _ := operation["operationId"].(string)
		operation["operationId"] = strings.Replace(id, "AppsStatefulsetDevV1", "", 1)
		operation["tags"] = []any{"StatefulSets"}
	})
}

// nameToken says, in the words of Kubernetes' clients, that requests carry a token.
func (d document) nameToken() {
	at(object(d), "components")["securitySchemes"] = object{"BearerToken": object{"type": "apiKey", "in": "header", "name": "authorization"}}
	d["security"] = []any{object{"BearerToken": []any{}}}
}

// dropDefaults leaves defaults to the server: those of a client would be those of its version, and {} makes
// a field required in TypeScript.
func (d document) dropDefaults() {
	walk(object(d), func(o object) {
		if o["type"] != nil || o["allOf"] != nil || o["$ref"] != nil {
			delete(o, "default")
		}
	})
}

// inline writes the types of the language's own into the places that refer to them. So it does with objects
// without properties, of which a generator would make a class that holds nothing.
func (d document) inline(own map[string]object, free bool) {
	replacement := func(schema object) object {
		name := target(schema)
		if r := own[name]; r != nil {
			return r
		}
		if s := at(d.schemas(), name); free && name != "" && s["type"] == "object" && s["properties"] == nil && s["additionalProperties"] == nil {
			return object{"type": "object"}
		}
		return nil
	}
	walk(object(d), func(o object) {
		if r := replacement(o); r != nil {
			delete(o, "allOf")
			delete(o, "$ref")
			maps.Copy(o, r)
		}
	})
	for name := range own {
		delete(d.schemas(), name)
	}
}

// collapse makes a plain reference of one that has a description beside it, which openapi-generator 4.3.1
// would make a class of its own of.
func (d document) collapse() {
	walk(object(d), func(o object) {
		if name := target(o); name != "" {
			clear(o)
			o["$ref"] = reference + name
		}
	})
}

// openEnums makes strings of enums, so that a value of a later version is kept and not refused.
func (d document) openEnums() {
	walk(object(d), func(o object) {
		if values := texts(o["enum"]); o["type"] == "string" && len(values) > 0 {
			delete(o, "enum")
		}
	})
}

// shortenModels names models as the clients of Kubernetes do, such as V1StatefulSet.
func (d document) shortenModels() error {
	names := map[string]string{}
	taken := map[string]string{}
	for _, long := range slices.Sorted(maps.Keys(d.schemas())) {
		short := shortened(long)
		if other, ok := taken[short]; ok {
			return fmt.Errorf("%s and %s would both be named %s", other, long, short)
		}
		names[long], taken[short] = short, long
	}
	schemas := d.schemas()
	for long, short := range names {
		schemas[short] = schemas[long]
		delete(schemas, long)
	}
	walk(object(d), func(o object) {
		if ref, ok := o["$ref"].(string); ok {
			o["$ref"] = reference + names[strings.TrimPrefix(ref, reference)]
		}
	})
	return nil
}

func shortened(long string) string {
	parts := strings.Split(long, ".")
	kind, version := parts[len(parts)-1], parts[len(parts)-2]
	if len(version) < 2 || version[0] != 'v' || version[1] < '0' || version[1] > '9' {
		return kind
	}
	return strings.ToUpper(version[:1]) + version[1:] + kind
}
