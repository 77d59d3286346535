// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"
)

// scripts is where Argo CD's own tree would have them, below resource_customizations.
const scripts = "../../artifacts/argocd/apps.statefulset.dev/StatefulSet"

// run runs a script on an object, as Argo CD does: the object is the global obj, and
// the script returns its answer.
func run(t *testing.T, script string, obj map[string]any) any {
	t.Helper()
	machine := lua.NewState()
	defer machine.Close()
	machine.SetGlobal("obj", toLua(machine, obj))
	if err := machine.DoFile(filepath.Join(scripts, script)); err != nil {
		t.Fatalf("running %s: %v", script, err)
	}
	return fromLua(machine.Get(-1))
}

func toLua(machine *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := machine.NewTable()
		for key, child := range value {
			table.RawSetString(key, toLua(machine, child))
		}
		return table
	case []any:
		table := machine.NewTable()
		for _, child := range value {
			table.Append(toLua(machine, child))
		}
		return table
	case string:
		return lua.LString(value)
	case float64:
		return lua.LNumber(value)
	case bool:
		return lua.LBool(value)
	default:
		return lua.LNil
	}
}

// fromLua takes a table with a first element for a list.
func fromLua(value lua.LValue) any {
	switch value := value.(type) {
	case *lua.LTable:
		if n := value.Len(); n > 0 {
			var list []any
			for i := 1; i <= n; i++ {
				list = append(list, fromLua(value.RawGetInt(i)))
			}
			return list
		}
		fields := map[string]any{}
		value.ForEach(func(key, child lua.LValue) { fields[key.String()] = fromLua(child) })
		return fields
	case lua.LString:
		return string(value)
	case lua.LNumber:
		return float64(value)
	case lua.LBool:
		return bool(value)
	default:
		return nil
	}
}

// read decodes a YAML file beside the scripts.
func read(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(scripts, path))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, into); err != nil {
		t.Fatalf("decoding %s: %v", path, err)
	}
}

// text is a value in one form, for comparison.
func text(t *testing.T, value any) string {
	t.Helper()
	encoded, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
