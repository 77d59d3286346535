// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strings"
	"sync"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// charges are what calls ask of the account before they are executed, by the name of the function.
// A function that is not in charges, searches or constants cannot be called (judge.go).
//
//nolint:gochecknoglobals // a table
var charges = sync.OnceValue(func() map[string]func(a *account, args []ref.Val) error {
	return map[string]func(a *account, args []ref.Val) error{
		operators.Add:           added,
		operators.Equals:        compared,
		operators.NotEquals:     compared,
		operators.Less:          scanned,
		operators.LessEquals:    scanned,
		operators.Greater:       scanned,
		operators.GreaterEquals: scanned,
		operators.In:            looked,
		operators.OldIn:         looked,
		"in":                    looked,

		"string": converted, "bytes": converted, "strings.quote": quotedText, "json.encode": quotedText, "format": formatted,
		"base64.encode": func(a *account, args []ref.Val) error { return a.text((long(args[0]) + 2) / 3 * 4) },
		"base64.decode": copied, "lowerAscii": copied, "upperAscii": copied, "trim": copied, "charAt": scanned, "substring": sliced,
		"replace": replaced, "join": joined, "split": divided, "indexOf": sought, "lastIndexOf": sought,
		"contains": scanned, "startsWith": scanned, "endsWith": scanned, "size": scanned,
		"int": scanned, "uint": scanned, "double": scanned, "bool": scanned, "duration": scanned, "timestamp": scanned,

		"lists.range": func(a *account, args []ref.Val) error { return a.list(int(min(number(args[0], 0), mostValue+1))) },
		"reverse":     copied, "slice": copied, "sort": sorted, "@sortByAssociatedKeys": sorted, "distinct": unique, "flatten": flattened,
		"optional.unwrap": copied, "unwrapOpt": copied, "math.@max": scanned, "math.@min": scanned,
	}
})

// constants are the functions whose cost and result are small for any arguments.
func constants() []string {
	return []string{
		operators.LogicalNot, operators.LogicalAnd, operators.LogicalOr, operators.Conditional, operators.NotStrictlyFalse,
		"__not_strictly_false__",
		operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate,
		operators.Index, operators.OptIndex, operators.OptSelect,
		"dyn", "type", "first", "last", "hasValue", "value", "or", "orValue", "optional.none", "optional.of", "optional.ofNonZeroValue",
		"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds", "getMinutes", "getMonth",
		"getSeconds",
		"math.abs", "math.bitAnd", "math.bitNot", "math.bitOr", "math.bitShiftLeft", "math.bitShiftRight", "math.bitXor", "math.ceil",
		"math.floor",
		"math.isFinite", "math.isInf", "math.isNaN", "math.round", "math.sign", "math.sqrt", "math.trunc",
	}
}

// long is the number of bytes of a string, or the number of entries of a list or a map.
func long(value ref.Val) int {
	switch value := value.(type) {
	case types.String:
		return len(value)
	case types.Bytes:
		return len(value)
	case traits.Sizer:
		size, _ := value.Size().(types.Int)
		return int(size)
	default:
		return 1
	}
}

func number(value ref.Val, otherwise int64) int64 {
	if n, is := value.(types.Int); is {
		return int64(n)
	}
	return otherwise
}

// text is the string of a value. It is empty for another type, which the call itself refuses.
func text(value ref.Val) string {
	s, _ := value.(types.String)
	return string(s)
}

// scanned is for functions that read their arguments once and return a small value.
func scanned(a *account, args []ref.Val) error {
	steps := 0
	for _, arg := range args {
		steps += long(arg)
	}
	return a.work(steps)
}

// copied is for functions whose result is at most as large as their first argument.
func copied(a *account, args []ref.Val) error {
	if _, is := args[0].(traits.Lister); is {
		return a.list(long(args[0]))
	}
	return a.text(long(args[0]))
}

// converted is for conversions. They copy strings; all other results are short.
func converted(a *account, args []ref.Val) error {
	switch args[0].(type) {
	case types.String, types.Bytes:
		return a.text(long(args[0]))
	default:
		return a.work(1)
	}
}

// added joins two strings, or two lists. It does not copy the first list.
func added(a *account, args []ref.Val) error {
	switch args[0].(type) {
	case types.String, types.Bytes:
		return a.text(long(args[0]) + long(args[1]))
	case traits.Lister:
		if all := long(args[0]) + long(args[1]); all > mostValue {
			return a.list(all)
		}
		return a.list(long(args[1]))
	default:
		return nil
	}
}

// compared reads both values completely.
func compared(a *account, args []ref.Val) error {
	return a.work(min(whole(args[0]), whole(args[1])) + 1)
}

// looked compares a value with each entry of a list.
func looked(a *account, args []ref.Val) error {
	one := whole(args[0])
	if one > mostSteps {
		return a.work(one)
	}
	if _, is := args[1].(traits.Lister); is {
		return a.work(product(long(args[1]), one/bytesOfItem+1))
	}
	return a.work(one)
}

// sliced returns a part of a string.
func sliced(a *account, args []ref.Val) error {
	const longestRune = 4
	if err := a.work(long(args[0])); err != nil {
		return err
	}
	part := int64(long(args[0]))
	if len(args) == 3 {
		part = min(part, longestRune*max(min(number(args[2], 0), part)-max(number(args[1], 0), 0), 0))
	}
	return a.text(int(part))
}

// replaced replaces all occurrences of a string, or as many as the limit allows.
func replaced(a *account, args []ref.Val) error {
	in, from, to := text(args[0]), text(args[1]), text(args[2])
	if err := a.work(len(in)); err != nil {
		return err
	}
	n := strings.Count(in, from)
	if len(args) == 4 {
		if limit := number(args[3], -1); limit >= 0 {
			n = int(min(int64(n), limit))
		}
	}
	return a.text(len(in) + n*(len(to)-len(from)))
}

func joined(a *account, args []ref.Val) error {
	list, is := args[0].(traits.Lister)
	if !is {
		return nil
	}
	n := long(list)
	if err := a.work(n); err != nil {
		return err
	}
	size := 0
	if len(args) == 2 {
		size = product(max(n-1, 0), long(args[1]))
	}
	for it := list.Iterator(); it.HasNext() == types.True && size <= mostValue; {
		size += len(text(it.Next()))
	}
	return a.text(size)
}

// divided returns parts that share the bytes of the string.
func divided(a *account, args []ref.Val) error {
	if err := scanned(a, args); err != nil {
		return err
	}
	return a.list(strings.Count(text(args[0]), text(args[1])) + 1)
}

// sought may compare a string at every position of another one.
func sought(a *account, args []ref.Val) error {
	return a.work(product(long(args[0])+1, long(args[1])+1))
}

// sorted compares keys. If there are none, it compares the values of the list.
func sorted(a *account, args []ref.Val) error {
	n := long(args[0])
	if err := a.list(n); err != nil {
		return err
	}
	const mostComparisons = 17 // of an entry of the longest list: its binary logarithm, and one
	return a.work(product(whole(args[len(args)-1]), mostComparisons))
}

// unique compares every entry with every other one.
func unique(a *account, args []ref.Val) error {
	n := long(args[0])
	if err := a.work(product(whole(args[0]), n)); err != nil {
		return err
	}
	return a.list(n)
}

// flattened returns the entries of nested lists, up to the depth in its argument.
func flattened(a *account, args []ref.Val) error {
	depth := int64(1)
	if len(args) == 2 {
		depth = number(args[1], 0)
	}
	return a.list(leaves(args[0], depth, mostValue+1))
}

// leaves is the number of entries of a list with nested lists up to a depth. It stops counting at
// most.
func leaves(value ref.Val, depth int64, most int) int {
	list, is := value.(traits.Lister)
	if !is || depth < 0 {
		return 1
	}
	n := 0
	for it := list.Iterator(); it.HasNext() == types.True && n < most; {
		n += max(leaves(it.Next(), depth-1, most-n), 1)
	}
	return n
}

// whole is the number of bytes that a comparison of a value reads. It does not count further than
// the limit.
func whole(value ref.Val) int {
	const most = 1 << 20
	if n := written(value, most); n <= most {
		return n
	}
	return mostSteps + 1
}

// product is a times b. If that exceeds the limit, it is a number above the limit.
func product(a, b int) int {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > mostSteps/b {
		return mostSteps + 1
	}
	return a * b
}
