// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"errors"
	"fmt"
	"math"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

var errTooLong = fmt.Errorf("gives more than %d bytes", mostResult)

// jsonOf converts a value to JSON, and subtracts its size from the remaining room.
func jsonOf(value ref.Val, room *int) (any, error) {
	if *room--; *room < 0 {
		return nil, errTooLong
	}
	switch value := value.(type) {
	case types.String:
		if *room -= len(value); *room < 0 {
			return nil, errTooLong
		}
		return string(value), nil
	case types.Int:
		return int64(value), nil
	case types.Uint:
		if value > math.MaxInt64 {
			return nil, fmt.Errorf("gives %d, which is too large", uint64(value))
		}
		return int64(value), nil
	case types.Double:
		if number := float64(value); !math.IsNaN(number) && !math.IsInf(number, 0) {
			return number, nil
		}
		return nil, errors.New("gives a number that is not finite")
	case types.Bool:
		return bool(value), nil
	case traits.Mapper:
		return mapOf(value, room)
	case traits.Lister:
		return listOf(value, room)
	default:
		return nil, fmt.Errorf("gives a value of type %s; only strings, numbers, booleans, and lists and maps of these are allowed",
			value.Type().TypeName())
	}
}

func listOf(list traits.Lister, room *int) (any, error) {
	all := []any{}
	for it := list.Iterator(); it.HasNext() == types.True; {
		next, err := jsonOf(it.Next(), room)
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	return all, nil
}

func mapOf(values traits.Mapper, room *int) (any, error) {
	all := map[string]any{}
	for it := values.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		name, ok := key.(types.String)
		if !ok {
			return nil, fmt.Errorf("gives a map with a key of type %s; keys must be strings", key.Type().TypeName())
		}
		if *room -= len(name); *room < 0 {
			return nil, errTooLong
		}
		next, err := jsonOf(values.Get(key), room)
		if err != nil {
			return nil, err
		}
		all[string(name)] = next
	}
	return all, nil
}
