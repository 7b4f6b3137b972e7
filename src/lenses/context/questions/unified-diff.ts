/** The files and lines that a unified diff changes, as `git diff` writes it. */

export interface DiffFile {
  /** After the change; of a deleted or moved file, before it. Without the prefixes `a/` and `b/`. */
  readonly path: string
  /**
   * Of the text before the change, from 1, both included: that is what is indexed. What is put between lines 2 and 3
   * stands at 2.5. Null: the whole file, as it is moved or deleted.
   */
  readonly ranges: readonly (readonly [start: number, end: number])[] | null
}

interface OpenFile {
  path: string
  isWhole: boolean
  readonly ranges: [number, number][]
}

export function parseDiff(diff: string): readonly DiffFile[] {
  const files: OpenFile[] = []
  let before = ''
  /** Old name of the file that the head being read moves. */
  let moved: string | null = null
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
        // What stands in the place of deleted lines touches what they touch, and no more.
        if (ranges?.at(-1)?.[1] !== line - 1) ranges?.push([line - 0.5, line - 0.5])
        added--
      } else if (!text.startsWith('\\')) {
        line++
        left--
        added--
      }
      continue
    }
    if (text.startsWith('diff ')) moved = null
    const from = /^rename from (.+)$/.exec(text)?.[1]
    if (from !== undefined) {
      moved = unquoted(from)
      files.push({ path: moved, isWhole: true, ranges: [] })
    }
    if (text.startsWith('--- ')) before = pathIn(text)
    // Of a moved file, the old name stands for all of it.
    if (text.startsWith('+++ ') && (moved === null || moved !== before)) {
      const after = pathIn(text)
      const isWhole = after === '/dev/null'
      files.push({ path: isWhole ? before : after, isWhole, ranges: [] })
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(text)
    if (hunk === null) continue
    const [, start = '1', lines = '1', plus = '1'] = hunk
    left = Number(lines)
    added = Number(plus)
    // With no lines of the old text, it names the line after which the new ones come.
    line = left === 0 ? Number(start) + 1 : Number(start)
  }
  return files.map(({ path, isWhole, ranges }) => ({ path, ranges: isWhole ? null : joined(ranges) }))
}

function pathIn(line: string): string {
  return unquoted(line.slice(4).split('\t')[0] ?? '').replace(/^[abciow]\//, '')
}

/** Git writes names in quotes that hold signs of its own or bytes beyond ASCII: `"\303\244.ts"`. */
function unquoted(path: string): string {
  if (!/^".*"$/.test(path)) return path
  const bytes = [...path.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)].flatMap(([, octal, sign, plain]) =>
    octal === undefined
      ? [...new TextEncoder().encode(plain ?? SIGNS[sign as string] ?? sign)]
      : [Number.parseInt(octal, 8) & 255],
  )
  return new TextDecoder().decode(new Uint8Array(bytes))
}

const SIGNS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' }

function joined(ranges: readonly [number, number][]): [number, number][] {
  const all: [number, number][] = []
  for (const [start, end] of ranges) {
    const last = all.at(-1)
    if (last !== undefined && start <= last[1] + 1 && Number.isInteger(start) === Number.isInteger(last[1]))
      last[1] = Math.max(last[1], end)
    else all.push([start, end])
  }
  return all
}
