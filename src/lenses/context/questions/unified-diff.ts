/** The files and lines that a unified diff changes, as `git diff` writes it. */

export interface DiffFile {
  /** After the change; of a deleted file, before it. Without the prefixes `a/` and `b/`. */
  readonly path: string
  /** Of the text before the change, from 1, both included: that is what is indexed. */
  readonly ranges: readonly (readonly [start: number, end: number])[]
}

export function parseDiff(diff: string): readonly DiffFile[] {
  const files: { path: string; ranges: [number, number][] }[] = []
  let before = ''
  let line = 0
  let left = 0
  let added = 0
  for (const text of diff.split(/\r?\n/)) {
    if (left > 0 || added > 0) {
      const ranges = files.at(-1)?.ranges
      if (text.startsWith('-')) {
        ranges?.push([line, line])
        line++
        left--
      } else if (text.startsWith('+')) {
        // Put between two lines, it belongs to what holds both; at the end of the file to its last line.
        ranges?.push([Math.max(1, line - 1), line])
        added--
      } else if (!text.startsWith('\\')) {
        line++
        left--
        added--
      }
      continue
    }
    if (text.startsWith('--- ')) before = pathIn(text)
    if (text.startsWith('+++ ')) {
      const after = pathIn(text)
      files.push({ path: after === '/dev/null' ? before : after, ranges: [] })
    }
    const rename = /^rename from (.+)$/.exec(text)?.[1]
    if (rename !== undefined) files.push({ path: rename, ranges: [] })
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(text)
    if (hunk === null) continue
    const [, start = '1', lines = '1', plus = '1'] = hunk
    left = Number(lines)
    added = Number(plus)
    // With no lines of the old text, it names the line after which the new ones come.
    line = left === 0 ? Number(start) + 1 : Number(start)
  }
  return files.map(({ path, ranges }) => ({ path, ranges: joined(ranges) }))
}

function pathIn(line: string): string {
  const path = line.slice(4).split('\t')[0] ?? ''
  const unquoted = path.startsWith('"') ? path.slice(1, -1) : path
  return unquoted.replace(/^[abciow]\//, '')
}

function joined(ranges: readonly [number, number][]): [number, number][] {
  const all: [number, number][] = []
  for (const [start, end] of ranges) {
    const last = all.at(-1)
    if (last !== undefined && start <= last[1] + 1) last[1] = Math.max(last[1], end)
    else all.push([start, end])
  }
  return all
}
