// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// check checks each object of our group in the files, and counts them. It ignores other objects.
func check(schemas string, files []string, out io.Writer) error {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	checked := 0
	var all []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading a file to check: %w", err)
		}
		for i, part := range strings.Split("\n"+string(text), "\n---\n") {
			found, err := checkOne(compiler, schemas, []byte(part))
			if err != nil {
				all = append(all, fmt.Errorf("%s: object %d: %w", file, i+1, err))
			}
			checked += found
		}
	}
	if len(all) > 0 {
		return errors.Join(all...)
	}
	_, err := fmt.Fprintf(out, "sdk: %d objects in %d files match their schemas\n", checked, len(files))
	return err
}

func checkOne(compiler *jsonschema.Compiler, schemas string, text []byte) (found int, err error) {
	encoded, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return 0, fmt.Errorf("parsing the object: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(encoded)))
	if err != nil {
		return 0, fmt.Errorf("parsing the object: %w", err)
	}
	var meta struct{ APIVersion, Kind string }
	if err := json.Unmarshal(encoded, &meta); err != nil || !strings.HasPrefix(meta.APIVersion, group+"/") {
		return 0, nil //nolint:nilerr // an object without a kind is not one of our group
	}
	version := strings.TrimPrefix(meta.APIVersion, group+"/")
	schema, err := compiler.Compile(filepath.Join(schemas, group, strings.ToLower(meta.Kind)+"_"+version+".json"))
	if err != nil {
		return 0, fmt.Errorf("found no schema that can be read: %w", err)
	}
	return 1, schema.Validate(value)
}
