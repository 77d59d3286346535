// Copyright The statefulset-apiserver Authors.
// SPDX-License-Identifier: Apache-2.0

// Fences of commands are shown as terminals: text that can be selected and copied, made from what the tests run and compare.

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

interface Command { lines: string[]; output: string[] }

// As the tests read them: a command begins with "$ ", goes on after a backslash and in lines that begin with "> ", and what follows
// is what it prints.
function commands(content: string): Command[] {
  const all: Command[] = []
  for (const line of content.replace(/\s+$/, '').split('\n')) {
    const last = all.at(-1)
    if (line.startsWith('$ ') || !last) {
      all.push({ lines: [line.replace(/^\$ /, '')], output: [] })
    } else if (last.output.length === 0 && (last.lines.at(-1)!.endsWith('\\') || line === '>' || line.startsWith('> '))) {
      last.lines.push(line)
    } else {
      last.output.push(line)
    }
  }
  return all
}

// Columns stay below each other, and are scrolled where the window is narrow; other text is wrapped.
const isTable = (output: string[]) => output.some(line => /^[A-Z][A-Z()-]*( +[A-Z][A-Z()-]*)*  +[A-Z][A-Z()-]*$/.test(line) || /[├└│█]/.test(line))

function printed(line: string): string {
  const [, word, rest] = /^(ok|warn|FAIL|skip|error:|Error from server|Warning:)?(.*)$/s.exec(line)!
  return (word ? `<b class="${word.split(/\W/)[0].toLowerCase()}">${word}</b>` : '') + escaped(rest)
}

function output(lines: string[]): string {
  if (lines.length === 0) return ''
  const text = lines.map(line => `<span style="--indent:${line.search(/\S|$/) + 2}ch">${printed(line)}\n</span>`).join('')
  return isTable(lines) ? `<samp class="vp-copy-ignore table" tabindex="0" role="group" aria-label="output">${text}</samp>` : `<samp class="vp-copy-ignore">${text}</samp>`
}

// terminal is the element for a fence. Its order is what the copy button of VitePress expects; that copies the commands alone.
export function terminal(info: string, content: string): string {
  const why = /^console\s+norun\s+(.*)$/.exec(info.trim())?.[1]
  const where = /^console\s+nodes\b/.test(info.trim()) ? ' on real nodes' : ''
  const caption = why ? `not run by the tests: ${why}` : `run by the tests${where}`
  const body = commands(content).map(({ lines, output: out }) => {
    const [first, ...more] = lines.map(escaped)
    const command = [`<span class="prompt vp-copy-ignore">$ </span>${first}`, ...more.map(line => line.replace(/^&gt; ?/, '<span class="prompt vp-copy-ignore">&gt; </span>'))]
    return `<kbd>${command.join('\n')}\n</kbd>${output(out)}`
  })
  return `<div class="language-console terminal" v-pre><button type="button" title="Copy the commands" class="copy"></button>` +
    `<span class="lang" title="${escaped(caption)}">${why ? '○' : '✓'}</span><pre><code>${body.join('')}</code></pre></div>\n`
}
