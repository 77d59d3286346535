// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "statefulset.dev/api/apps/v1"
)

// mostAllocated is how many bytes one expression may allocate while it is compiled and evaluated, with
// what is collected in between. What it holds at a time is far less.
const mostAllocated = 128 << 20

// allocated is how many bytes something allocates. Nothing else of the process may run.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// transforming is a source with one transform, and values for it.
func transforming(expression string, values map[string]string) Source {
	return source(v1.MemberIdentity{Values: values, Transforms: []v1.Transform{{Path: "/metadata/annotations/x", Expression: expression}}})
}

// rendering is what a pod is for a member with one transform: the value, or why there is none.
func rendering(of Source) (value string, wrong *Error) {
	r := New(of)
	if errs := r.Check(); len(errs) > 0 {
		return "", errs[0]
	}
	pod, wrong := r.Pod(&corev1.PodTemplateSpec{}, Member{})
	if wrong != nil {
		return "", wrong
	}
	return pod.Annotations["x"], nil
}

func TestWhatGrowsIsRefusedBeforeItIsMade(t *testing.T) {
	values := map[string]string{"BIG": strings.Repeat("x", 4096), "QUOTES": strings.Repeat(`"`, 4096), "P": strings.Repeat("a{1000}", 580)}
	const quarter = `[BIG].map(x, x.replace("", "aaaaaaaaaaaa"))`       // of a text that is as long as may be, and more
	const whole = `[BIG].map(x, x + x + x + x + x + x + x + x + x + x)` // 40 KiB
	for sentence, test := range map[string]struct{ expression, want string }{
		"a text put between all bytes of itself": {
			`[BIG].map(x, x.replace("", "aaaaaaaaaaaaaaaaaaaa")).map(z, z.replace("", z))[0]`, "would create a string of 86036 bytes"},
		"a long text put between its own bytes":     {quarter + `.map(z, z.replace("", z))[0]`, "would create a string of"},
		"an expression that replaces between bytes": {`[BIG].map(x, regex.replace(x, "", x))[0]`, "would create a string of"},
		"a group that is repeated": {
			`[BIG].map(x, x + x + x + x).map(x, regex.replace(x, "(x{40})", "\\1\\1\\1\\1\\1"))[0]`, "would create a string of"},
		"the bytes of a text joined by it": {`[BIG].map(x, x.split("").join(x))[0]`, "would create a string of"},
		"an empty target": {
			`regex.replace("", "", BIG).replace("", BIG) + [BIG].map(x, x.replace("", x))[0]`, "would create a string of"},
		"texts that are added":     {whole + `.map(x, x + x)[0]`, "would create a string of 81920 bytes"},
		"texts that are formatted": {whole + `.map(x, "%s%s".format([x, x]))[0]`, "would create a string of"},
		"a text in hexadecimal":    {whole + `.map(x, "%x".format([x]))[0]`, "would create a string of 81922 bytes"},
		"a text as base64": {
			`[BIG].map(x, x.replace("", "aaaaaaaaaaaa")).map(x, base64.encode(bytes(x)))[0]`, "would create a string of 71016 bytes"},
		"a text in quotes": {
			`[QUOTES].map(x, x + x + x + x + x + x + x + x + x + x).map(x, strings.quote(x))[0]`, "would create a string of"},
		"a text as JSON": {
			`[QUOTES].map(x, x + x + x + x + x + x + x + x + x + x).map(x, json.encode(x))[0]`, "would create a string of"},
		"a list in a list in a list, as JSON": {
			`[BIG]` + strings.Repeat(`.map(x, [x, x, x, x])`, 20) + `.map(x, json.encode(x))[0]`, "would create a string of"},
		"a list in a list in a list, compared": {
			`string([1]` + strings.Repeat(`.map(x, [x, x, x, x])`, 20) + `.map(x, x == x)[0])`, "compares and searches more than"},
		"a list in a list in a list, sought": {
			`string([1]` + strings.Repeat(`.map(x, [x, x, x, x])`, 20) + `.map(x, x in [x])[0])`, "compares and searches more than"},
		"a list in a list in a list, flattened": {
			`string([1]` + strings.Repeat(`.map(x, [x, x, x, x])`, 20) + `.flatten(20).size())`, "would create a list of"},
		"a regular expression that is a value": {
			`string([1,1].map(i, [P].map(p, "".matches(p))).size())`, "1:42: the regular expression must be a string literal"},
		"a regular expression that is put together": {`string("".matches("a" + "b"))`, "the regular expression must be a string literal"},
		"a regular expression that is a member's":   {`regex.replace(IDENTITY, IDENTITY, "")`, "the regular expression must be a string literal"},
		"a long regular expression": {
			`string("".matches("(a{1000}){1000}"))`, "is not a regular expression: error parsing regexp: invalid repeat count: `{1000}`"},
		"a regular expression with a long program": {
			`string("".matches("a{1000}b{1000}"))`, `regular expression "a{1000}b{1000}" needs more than 1000 instructions`},
		"a regular expression of many classes": {`string("".matches("[\\pL\\pN]{30}"))`, "needs more than 1000 instructions"},
		"a regular expression of many groups":  {`string("".matches("()()()()()()()()()()"))`, "has 10 groups, at most 9 are allowed"},
		"a regular expression and a long text, often": {
			`string([BIG].map(x, lists.range(90).map(i, x.matches("^(x?){100}y$")))[0].size())`, "compares and searches more than"},
		"all matches in a long text": {
			whole + `.map(x, regex.extractAll(x, "x").size())[0] == 1 ? "a" : "b"`, "a string of 40960 bytes is too long to find all matches"},
		"a macro that repeats what it stands behind": {
			"string(optional.of(1)" + strings.Repeat(".optMap(x,x)", 14) + ".value())", "has more than 10000 parts when its macros are expanded"},
		"another one that does": {"string(optional.of(1)" + strings.Repeat(".optFlatMap(x,optional.of(x))", 14) + ".value())",
			"has more than 10000 parts when its macros are expanded"},
		"types that double with every level": {
			"string([1]" + strings.Repeat(".map(a,{a:a})", 16) + ".size())", "has 16 maps with computed keys, at most 8 are allowed"},
		"a message": {"google.protobuf.StringValue{value: IDENTITY}", "messages cannot be created"},
	} {
		t.Run(sentence, func(t *testing.T) {
			var value string
			var wrong *Error
			took := allocated(func() { value, wrong = rendering(transforming(test.expression, values)) })
			if wrong == nil || !strings.Contains(wrong.Detail, test.want) || !strings.HasPrefix(wrong.In, "identity.transforms[0]") ||
				wrong.Field != "expression" {
				t.Errorf("got %d bytes, error %v, want error %q of the expression", len(value), wrong, test.want)
			}
			if took > mostAllocated {
				t.Errorf("allocated %d bytes, want %d at most", took, mostAllocated)
			}
		})
	}
}

func TestWhatIsAsLargeAsMayBe(t *testing.T) {
	values := map[string]string{"BIG": strings.Repeat("x", 4096)}
	for sentence, test := range map[string]struct {
		expression string
		want       int
	}{
		"a text":                                  {`BIG` + strings.Repeat(" + BIG", 14), 61440},
		"a text that an expression replaces":      {`regex.replace(BIG, "(x)", "\\1aaaaaaaaaaaaa")`, 57344},
		"a regular expression":                    {`"a".matches("a{990}") ? "" : BIG`, 4096},
		"as many maps with computed keys":         {`string([1]` + strings.Repeat(".map(a,{a:a})", 8) + `.size())`, 1},
		"some macros that repeat":                 {`string(optional.of(1)` + strings.Repeat(".optMap(x,x)", 4) + `.value())`, 1},
		"a list of as many entries as may be had": {`string(lists.range(1000).map(i, lists.range(64)).flatten().size())`, 5},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got, wrong := rendering(transforming(test.expression, values)); wrong != nil || len(got) != test.want {
				t.Errorf("got %d bytes, error %v, want %d bytes", len(got), wrong, test.want)
			}
		})
	}
}

// TestEveryFunctionIsBounded fails when the language has a function of which nobody has said what it may
// create.
func TestEveryFunctionIsBounded(t *testing.T) {
	env, err := language()
	if err != nil {
		t.Fatal(err)
	}
	for name := range env.Functions() {
		_, charged := charges()[name]
		ways := 0
		for _, is := range []bool{charged, isSearch(name), slices.Contains(constants(), name)} {
			if is {
				ways++
			}
		}
		if ways != 1 {
			t.Errorf("function %s is bounded in %d ways, want 1", name, ways)
		}
	}
	for _, name := range reading() {
		for _, growing := range []string{"_+_", "replace", "join", "format", "regex.replace", "strings.quote", "base64.encode", "json.encode"} {
			if name == growing {
				t.Errorf("outputs may use %s, which makes texts longer", name)
			}
		}
	}
}

func TestOutputsReadFields(t *testing.T) {
	for expression, want := range map[string]string{
		`object.data.a.replace("", object.data.a)`:                 "1:22: outputs only read fields, so replace is not allowed",
		`object.data.a + object.data.a`:                            "1:15: outputs only read fields, so + is not allowed",
		`"%s%s".format([object.data.a, object.data.a])`:            "outputs only read fields, so format is not allowed",
		`object.data.a.split("").join(object.data.a)`:              "outputs only read fields, so join is not allowed",
		`regex.replace(object.data.a, "", object.data.a)`:          "outputs only read fields, so regex.replace is not allowed",
		`base64.encode(bytes(object.data.a))`:                      "is not allowed",
		`json.encode(object)`:                                      "outputs only read fields, so json.encode is not allowed",
		`strings.quote(object.data.a)`:                             "outputs only read fields, so strings.quote is not allowed",
		`string(object.data.a.matches(object.data.a))`:             "the regular expression must be a string literal",
		`object.list.filter(o, o.kind == "b").map(o, o.at)[0]`:     "",
		`object.?status.?address.orValue("none")`:                  "",
		`has(object.spec.port) ? string(object.spec.port) : "0"`:   "",
		`regex.extract(object.data.a, "^([^:]+)").orValue("none")`: "",
		`string(base64.decode(object.data.a))`:                     "",
		`object.data.a.split(":")[0].trim().lowerAscii()`:          "",
		`string(object.list.exists(o, o.at.startsWith("a")))`:      "",
	} {
		o, wrong := NewObject(Source{Name: "db"}, objectWith(expression), "t")
		if wrong != nil {
			t.Fatal(wrong)
		}
		got := ""
		if errs := o.Check(); len(errs) > 0 {
			got = errs[0].Detail
		}
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: got error %q, want %q", expression, got, want)
		}
	}
}

// TestALargeObjectCostsAnOutputLittle reads outputs of an object as large as the host stores.
func TestALargeObjectCostsAnOutputLittle(t *testing.T) {
	data := map[string]any{}
	for i := range 24 {
		data[fmt.Sprint(i)] = strings.Repeat("x", 60<<10)
	}
	for _, expression := range []string{`string(object.data == object.data)`, `object.data["0"]`,
		`string(object.data["0"].matches("^(x?){100}y$"))`, `string(object.data["1"].split("").size())`} {
		o, wrong := NewObject(Source{Name: "db"}, objectWith(expression), "t")
		if wrong != nil || len(o.Check()) > 0 {
			t.Fatal(expression, wrong, o.Check())
		}
		var got Output
		if took := allocated(func() { got = o.EvaluateOutputs(map[string]any{"data": data})["A"] }); took > mostAllocated {
			t.Errorf("%s: allocated %d bytes, want %d at most; it gives %+v", expression, took, mostAllocated, got)
		}
	}
}

func TestAnAccountIsUsedUp(t *testing.T) {
	for sentence, test := range map[string]struct {
		ask  func(a *account) error
		most int
		want string
	}{
		"texts": {func(a *account) error { return a.text(mostValue) }, 64, "creates more than 4194304 bytes of strings and lists"},
		"lists": {func(a *account) error { return a.list(1023) }, 256, "creates more than 4194304 bytes of strings and lists"},
		"time":  {func(a *account) error { return a.work(1 << 20) }, 16, "compares and searches more than 16777216 bytes"},
		"a text, too long": {
			func(a *account) error { return a.text(mostValue + 1) }, 0, "would create a string of 65537 bytes, at most 65536 are allowed"},
		"a list, too long": {
			func(a *account) error { return a.list(mostValue + 1) }, 0, "would create a list of 65537 entries, at most 65536 are allowed"},
		"more than an int": {
			func(a *account) error { return a.work(product(math.MaxInt, 3)) }, 0, "compares and searches more than 16777216 bytes"},
		"all of it at once": {func(a *account) error { return a.work(mostSteps) }, 1, "compares and searches more than 16777216 bytes"},
	} {
		t.Run(sentence, func(t *testing.T) {
			a, asked := &account{ctx: t.Context()}, 0
			var err error
			for ; err == nil && asked <= test.most; asked++ {
				err = test.ask(a)
			}
			if asked != test.most+1 || err == nil || err.Error() != test.want {
				t.Errorf("request %d was refused with %v, want %d with %q", asked, err, test.most+1, test.want)
			}
		})
	}
}
