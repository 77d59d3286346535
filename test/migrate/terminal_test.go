//go:build migrate

// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// terminal interprets what a program writes to a terminal, as far as it moves the cursor
// or changes cells. Colours and modes are ignored.
type terminal struct {
	mu            sync.Mutex
	cells         [][]rune
	row, column   int
	pending       []byte
	width, height int
	// top and bottom bound what scrolls.
	top, bottom int
}

func newTerminal(width, height int) *terminal {
	t := &terminal{}
	t.resize(width, height)
	return t
}

// resize clears the screen: programs draw it anew.
func (t *terminal) resize(width, height int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.width, t.height, t.row, t.column = width, height, 0, 0
	t.top, t.bottom = 0, height-1
	t.cells = make([][]rune, height)
	for i := range t.cells {
		t.cells[i] = blank(width)
	}
}

func blank(width int) []rune { return []rune(strings.Repeat(" ", width)) }

// text is what is on the screen, without blanks at the ends of lines and empty lines at
// the end.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for _, cells := range t.cells {
		lines = append(lines, strings.TrimRight(string(cells), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (t *terminal) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = append(t.pending, data...)
	for len(t.pending) > 0 {
		used := t.take(t.pending)
		if used == 0 {
			break
		}
		t.pending = t.pending[used:]
	}
	return len(data), nil
}

// take interprets the first character or sequence, and says how long it is: zero if it
// is not complete.
func (t *terminal) take(data []byte) int {
	switch c := data[0]; {
	case c == 0x1b:
		return t.escape(data)
	case c == '\n':
		t.lineFeed()
	case c == '\r':
		t.column = 0
	case c == '\b':
		t.column = max(t.column-1, 0)
	case c == '\t':
		t.column = min(t.column/8*8+8, t.width-1)
	case c < 0x20:
	case !utf8.FullRune(data):
		return 0
	default:
		char, size := utf8.DecodeRune(data)
		t.put(char)
		return size
	}
	return 1
}

func (t *terminal) put(char rune) {
	if t.column >= t.width {
		t.column = 0
		t.lineFeed()
	}
	t.cells[t.row][t.column] = char
	t.column++
}

func (t *terminal) lineFeed() {
	if t.row == t.bottom {
		t.scroll(t.top, 1)
	} else {
		t.row = min(t.row+1, t.height-1)
	}
}

// scroll moves the lines from one to the last that scrolls up, or down if lines is
// negative.
func (t *terminal) scroll(from, lines int) {
	for ; lines > 0; lines-- {
		copy(t.cells[from:t.bottom], t.cells[from+1:t.bottom+1])
		t.cells[t.bottom] = blank(t.width)
	}
	for ; lines < 0; lines++ {
		copy(t.cells[from+1:t.bottom+1], t.cells[from:t.bottom])
		t.cells[from] = blank(t.width)
	}
}

func (t *terminal) escape(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '[':
		return t.control(data)
	case ']', 'P', '_', '^':
		for i := 2; i < len(data); i++ {
			if data[i] == 7 {
				return i + 1
			}
			if data[i] == 0x1b && i+1 < len(data) {
				return i + 2
			}
		}
		return 0
	case '(', ')':
		if len(data) < 3 {
			return 0
		}
		return 3
	case 'M':
		if t.row == t.top {
			t.scroll(t.top, -1)
		} else {
			t.row = max(t.row-1, 0)
		}
	}
	return 2
}

// control interprets a sequence that begins with ESC [.
func (t *terminal) control(data []byte) int {
	for i := 2; i < len(data); i++ {
		if data[i] >= 0x40 && data[i] <= 0x7e {
			if parameters := string(data[2:i]); !strings.ContainsAny(parameters, "?<=>$! ") {
				t.obey(data[i], parameters)
			}
			return i + 1
		}
	}
	return 0
}

func (t *terminal) obey(command byte, parameters string) {
	values := strings.Split(parameters, ";")
	value := func(i, otherwise int) int {
		if i < len(values) {
			if n, err := strconv.Atoi(values[i]); err == nil {
				return n
			}
		}
		return otherwise
	}
	n := max(value(0, 1), 1)
	line := t.cells[t.row]
	column := min(t.column, t.width-1)
	switch command {
	case 'A':
		t.row = max(t.row-n, 0)
	case 'B', 'e':
		t.row = min(t.row+n, t.height-1)
	case 'C', 'a':
		t.column = min(t.column+n, t.width-1)
	case 'D':
		t.column = max(column-n, 0)
	case 'E':
		t.row, t.column = min(t.row+n, t.height-1), 0
	case 'F':
		t.row, t.column = max(t.row-n, 0), 0
	case 'G', '`':
		t.column = min(n, t.width) - 1
	case 'd':
		t.row = min(n, t.height) - 1
	case 'H', 'f':
		t.row, t.column = min(n, t.height)-1, min(max(value(1, 1), 1), t.width)-1
	case 'J':
		t.erase(value(0, 0))
	case 'K':
		from, to := column, t.width
		switch value(0, 0) {
		case 1:
			from, to = 0, column+1
		case 2:
			from = 0
		}
		copy(line[from:to], blank(to-from))
	case 'X':
		copy(line[column:], blank(min(n, t.width-column)))
	case 'P':
		copy(line[column:], append(line[min(column+n, t.width):], blank(min(n, t.width-column))...))
	case '@':
		shifted := append(blank(min(n, t.width-column)), line[column:]...)
		copy(line[column:], shifted)
	case 'b':
		for char := line[max(column-1, 0)]; n > 0; n-- {
			t.put(char)
		}
	case 'r':
		t.top, t.bottom = n-1, min(max(value(1, t.height), 1), t.height)-1
		t.row, t.column = 0, 0
	case 'L':
		t.scroll(t.row, -n)
	case 'M':
		t.scroll(t.row, n)
	case 'T':
		t.scroll(t.top, -n)
	case 'S':
		t.scroll(t.top, n)
	}
}

func (t *terminal) erase(which int) {
	for row := range t.cells {
		for column := range t.cells[row] {
			before := row < t.row || row == t.row && column < t.column
			if which == 2 || which == 0 && !before || which == 1 && (before || row == t.row && column == t.column) {
				t.cells[row][column] = ' '
			}
		}
	}
}
