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
  const reader = new DiffReader()
  for (const line of diff.split(/\r?\n/)) reader.read(line)
  return reader.finish()
}

class DiffReader {
  readonly #files: OpenFile[] = []
  /** Name of the file before the change, and (null: none) its old name where it was moved; of the head being read. */
  #before = ''
  #moved: string | null = null
  /** Next line of the old text, and lines of the old and the new one yet to come; of the hunk being read. */
  #line = 0
  #oldLeft = 0
  #newLeft = 0

  read(line: string): void {
    if (this.#oldLeft > 0 || this.#newLeft > 0) this.#readChange(line)
    else if (!this.#opensHunk(line)) this.#readHead(line)
  }

  finish(): readonly DiffFile[] {
    return this.#files.map(({ path, isWhole, ranges }) => ({ path, ranges: isWhole ? null : joined(ranges) }))
  }

  #readHead(line: string): void {
    if (line.startsWith('diff ')) this.#moved = null
    const from = /^rename from (.+)$/.exec(line)?.[1]
    if (from !== undefined) {
      this.#moved = unquoted(from)
      this.#files.push({ path: this.#moved, isWhole: true, ranges: [] })
    }
    if (line.startsWith('--- ')) this.#before = pathIn(line)
    // Of a moved file, the old name stands for all of it.
    if (line.startsWith('+++ ') && (this.#moved === null || this.#moved !== this.#before)) {
      const after = pathIn(line)
      const isWhole = after === '/dev/null'
      this.#files.push({ path: isWhole ? this.#before : after, isWhole, ranges: [] })
    }
  }

  #opensHunk(line: string): boolean {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
    if (hunk === null) return false
    const [, start = '1', old = '1', added = '1'] = hunk
    this.#oldLeft = Number(old)
    this.#newLeft = Number(added)
    // With no lines of the old text, it names the line after which the new ones come.
    this.#line = this.#oldLeft === 0 ? Number(start) + 1 : Number(start)
    return true
  }

  #readChange(line: string): void {
    const ranges = this.#files.at(-1)?.ranges
    if (line.startsWith('-')) {
      ranges?.push([this.#line, this.#line])
      this.#line++
      this.#oldLeft--
    } else if (line.startsWith('+')) {
      // What stands in the place of deleted lines touches what they touch, and no more.
      if (ranges?.at(-1)?.[1] !== this.#line - 1) ranges?.push([this.#line - 0.5, this.#line - 0.5])
      this.#newLeft--
    } else if (!line.startsWith('\\')) {
      this.#line++
      this.#oldLeft--
      this.#newLeft--
    }
  }
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
