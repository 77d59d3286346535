// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestEscaping(t *testing.T) {
	for sentence, c := range map[string]struct{ text, line, kept string }{
		"plain text stays":                {"pod db-0: 3 of 5", "pod db-0: 3 of 5", "pod db-0: 3 of 5"},
		"other scripts stay":              {"größe 数据 бд é", "größe 数据 бд é", "größe 数据 бд é"},
		"a window title":                  {"\x1b]0;x\a", `\x1b]0;x\x07`, `\x1b]0;x\x07`},
		"a control sequence":              {"\x1b[2J", `\x1b[2J`, `\x1b[2J`},
		"one that is a single character":  {"a\u009b31m", `a\u009b31m`, `a\u009b31m`},
		"one that is a single byte":       {"a\x9b31m", `a\x9b31m`, `a\x9b31m`},
		"a carriage return":               {"a\rb", `a\rb`, `a\rb`},
		"line breaks and tabs":            {"a\n\tb", `a\n\tb`, "a\n\tb"},
		"other line breaks":               {"a\u2028b\u0085c\vd", `a\u2028b\u0085c\x0bd`, `a\u2028b\u0085c\x0bd`},
		"a change of direction":           {"a\u202eb\u2066c\u200f", `a\u202eb\u2066c\u200f`, `a\u202eb\u2066c\u200f`},
		"delete":                          {"a\x7f", `a\x7f`, `a\x7f`},
		"tags beyond the first plane":     {"a\U000E0041", `a\U000e0041`, `a\U000e0041`},
		"what stands for bytes not valid": {"a\ufffdb", "a\ufffdb", "a\ufffdb"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := Line(c.text); got != c.line {
				t.Errorf("a line: got %q, want %q", got, c.line)
			}
			if got := Text(c.text); got != c.kept {
				t.Errorf("text: got %q, want %q", got, c.kept)
			}
		})
	}
}

func TestJSONMeansTheSame(t *testing.T) {
	want := "a\x1b\u009b\u202e\x7f\U000E0041\u2028b"
	encoded, err := json.Marshal(map[string]string{"k": want})
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	shown := JSON(string(encoded) + "\n")
	if strings.IndexFunc(strings.TrimSuffix(shown, "\n"), func(r rune) bool { return !unicode.IsGraphic(r) }) >= 0 {
		t.Errorf("got %q, want nothing but visible characters", shown)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(shown), &got); err != nil || got["k"] != want {
		t.Errorf("got %q and error %v back, want %q", got["k"], err, want)
	}
}

func TestWriterEscapesWhateverThePieces(t *testing.T) {
	const text = "größe\x1b[2J\u009b1m\u202e\n\tdone"
	want := Text(text)
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		guarded := Guard(genericiooptions.IOStreams{Out: &out, ErrOut: io.Discard}).Out
		for rest := text; rest != ""; {
			piece := rest[:min(size, len(rest))]
			if n, err := io.WriteString(guarded, piece); n != len(piece) || err != nil {
				t.Fatalf("writing %q: got %d, %v, want %d and no error", piece, n, err, len(piece))
			}
			rest = rest[len(piece):]
		}
		if out.String() != want {
			t.Errorf("pieces of %d bytes: got %q, want %q", size, &out, want)
		}
	}
}

func TestWhatIsNoTerminalGetsEveryByte(t *testing.T) {
	var out bytes.Buffer
	streams := GuardTerminals(genericiooptions.IOStreams{Out: &out, ErrOut: io.Discard})
	if _, err := io.WriteString(streams.Out, "\x1b"); err != nil || out.String() != "\x1b" {
		t.Errorf("got %q and error %v, want the byte as it is", &out, err)
	}
}
