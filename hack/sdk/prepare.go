// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Names of the types for which generators do not create usable code.
const (
	intOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
	quantity    = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	timestamp   = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"
)

// languages returns, for each language, the schemas that replace these types. For Java they become
// our own classes. openapi-generator 4.3.1 fails with any oneOf.
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

// prepare changes the document so that generators can read it, and so that names are as in the
// clients of Kubernetes.
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

// dropDeprecatedWatches removes the paths below /watch, because list has a parameter for watches.
func (d document) dropDeprecatedWatches() {
	maps.DeleteFunc(d.paths(), func(path string, _ any) bool { return strings.Contains(path, "/watch/") })
}

// keepJSON keeps only JSON as the encoding of bodies and answers. Patches keep their four kinds.
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

// letPlansTakeAnyBody allows any object as the body of a plan, because one schema cannot express
// that it may be a set, a Scale, a StatefulSetReplacement or a StatefulSetRollout.
func (d document) letPlansTakeAnyBody() {
	d.operations(func(path, method string, operation object) {
		if strings.HasSuffix(path, "/plan") && method == "post" {
			at(operation, "requestBody", "content", "application/json")["schema"] = object{"type": "object"}
		}
	})
}

// shortenOperations removes the group from the names of operations, because there is only one.
func (d document) shortenOperations() {
	d.operations(func(_, _ string, operation object) {
		id, _ := operation["operationId"].(string)
		operation["operationId"] = strings.Replace(id, "AppsStatefulsetDevV1", "", 1)
		operation["tags"] = []any{"StatefulSets"}
	})
}

// nameToken declares that requests have a token, in the same way as the clients of Kubernetes.
func (d document) nameToken() {
	at(object(d), "components")["securitySchemes"] = object{"BearerToken": object{"type": "apiKey", "in": "header", "name": "authorization"}}
	d["security"] = []any{object{"BearerToken": []any{}}}
}

// dropDefaults removes defaults, so that the server sets them: a client would set the defaults of
// its own version, and {} makes a field required in TypeScript.
func (d document) dropDefaults() {
	walk(object(d), func(o object) {
		if o["type"] != nil || o["allOf"] != nil || o["$ref"] != nil {
			delete(o, "default")
		}
	})
}

// inline replaces references to the types that the language replaces by their schemas. It also
// inlines objects without properties, for which a generator would create an empty class.
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

// collapse removes the descriptions next to references, because openapi-generator 4.3.1 would
// create a separate class for such a reference.
func (d document) collapse() {
	walk(object(d), func(o object) {
		if name := target(o); name != "" {
			clear(o)
			o["$ref"] = reference + name
		}
	})
}

// openEnums turns enums into strings, so that clients keep values of later versions.
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
