// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"
)

// screen is the model of the terminal.
type screen struct {
	source *source
	state  state
	frame  frame
}

// changedMsg reports that the state has changed.
type changedMsg struct{}

// showLive keeps the terminal up to date until the user quits or the context ends.
func showLive(ctx context.Context, s *source, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	program := tea.NewProgram(screen{source: s, state: s.state(), frame: frame{width: widest}},
		tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithFPS(20))
	go func() {
		for {
			select {
			case <-s.changed:
				program.Send(changedMsg{})
			case <-ctx.Done():
				return
			}
		}
	}()
	if _, err := program.Run(); err != nil && !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("showing the tree: %w", err)
	}
	return nil
}

// Init requests nothing: the terminal reports its size by itself.
func (screen) Init() tea.Cmd { return nil }

// Update handles one event.
func (s screen) Update(event tea.Msg) (tea.Model, tea.Cmd) {
	switch event := event.(type) {
	case changedMsg:
		s.state = s.source.state()
	case tea.WindowSizeMsg:
		s.frame.width, s.frame.height = event.Width, event.Height
	case tea.KeyPressMsg:
		return s.press(event.String())
	}
	return s, nil
}

func (s screen) press(key string) (tea.Model, tea.Cmd) {
	rows, _ := s.state.members()
	page := max(s.frame.height/2, 1)
	switch key {
	case "q", "ctrl+c", "esc":
		return s, tea.Quit
	case "down", "j":
		s.frame.top++
	case "up", "k":
		s.frame.top--
	case "pgdown", "space":
		s.frame.top += page
	case "pgup":
		s.frame.top -= page
	case "home":
		s.frame.top = 0
	case "end":
		s.frame.top = len(rows)
	}
	s.frame.top = min(max(s.frame.top, 0), s.lastTop(len(rows)))
	return s, nil
}

// lastTop returns the index of the first member shown when the last member is visible.
func (s screen) lastTop(rows int) int {
	return max(rows-max(s.frame.height-len(header(s.state, s.frame.width))-2, 1), 0)
}

// View draws the screen.
func (s screen) View() tea.View {
	view := tea.NewView(render(s.state, s.frame))
	view.AltScreen = true
	return view
}
