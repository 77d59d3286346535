// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// The maximum sizes of values other than strings, lists and maps when they are written out, in
// bytes.
const (
	longestNumber = 64  // an integer in base 2
	longestDouble = 330 // the largest double, with six digits
	longestDigits = 512 // the largest double, with as many digits as %.100f gives
	longestRune   = 10  // an escaped rune
)

// written is the maximum number of bytes of a value when it is written out with everything that it
// contains. It stops counting above most, because lists can contain the same list many times.
func written(value ref.Val, most int) int {
	switch value := value.(type) {
	case types.String:
		return quotedSize(string(value), most)
	case types.Bytes:
		return quotedSize(string(value), most) + 1
	case traits.Mapper:
		n := len("{}")
		for it := value.Iterator(); it.HasNext() == types.True && n <= most; {
			key := it.Next()
			n += written(key, most-n) + len(": , ")
			n += written(value.Get(key), most-n)
		}
		return n
	case traits.Lister:
		n := len("[]")
		for it := value.Iterator(); it.HasNext() == types.True && n <= most; {
			n += written(it.Next(), most-n) + len(", ")
		}
		return n
	case *types.Optional:
		if value.HasValue() {
			return written(value.GetValue(), most)
		}
		return 1
	case types.Double:
		return longestDouble
	default:
		return longestNumber
	}
}

// quotedSize is the maximum number of bytes of a string with quotes and escapes.
func quotedSize(s string, most int) int {
	n := len(`""`)
	for _, r := range s {
		if n > most {
			break
		}
		if isEscaped(r) {
			n += longestRune
		} else {
			n += utf8.RuneLen(r)
		}
	}
	return n
}

// isEscaped reports whether JSON, or Go, may escape a rune. Bytes that are not UTF-8 are
// utf8.RuneError here.
func isEscaped(r rune) bool {
	return r == utf8.RuneError || strings.ContainsRune(`"\<>&`, r) || !strconv.IsPrint(r)
}

// quotedText converts a value to JSON, or to a quoted string.
func quotedText(a *account, args []ref.Val) error {
	return a.text(written(args[0], mostValue))
}

// formatted formats values. It assumes that each verb can produce the longest value.
func formatted(a *account, args []ref.Val) error {
	pattern, values := text(args[0]), args[1]
	list, is := values.(traits.Lister)
	if !is {
		return nil
	}
	hex := strings.ContainsAny(pattern, "xX")
	size := len(pattern)
	for it := list.Iterator(); it.HasNext() == types.True && size <= mostValue; {
		size += verbSize(it.Next(), hex, mostValue-size)
	}
	return a.text(size)
}

func verbSize(value ref.Val, hex bool, most int) int {
	size := written(value, most)
	switch value.(type) {
	case types.Double:
		return longestDigits
	case types.String, types.Bytes:
		if size = long(value); hex {
			size *= 2
		}
	}
	return size
}
