/**
 * What can be read of an object whose JSON is broken or was cut off: its members one by one, and those of one member that
 * holds many things. What is broken is named, the rest is taken.
 */

export interface Repaired {
  readonly value: Readonly<Record<string, unknown>>
  /** Paths of what could not be read, and why. */
  readonly broken: readonly { readonly at: string; readonly message: string }[]
}

type Broken = { readonly at: string; readonly message: string }

/** `many`: the member (an object or a list) whose members are taken one by one. */
export function repairJson(text: string, many: string): Repaired {
  const broken: Broken[] = []
  const found: [string, unknown][] = []
  for (const { name, start, end } of members(text, 0)) {
    const opens = text[start]
    if (name === many && (opens === '{' || opens === '[')) {
      const parts: [string, unknown][] = []
      for (const part of members(text, start)) {
        const at = opens === '[' ? `.${many}[${part.name}]` : `.${many}.${part.name}`
        const read = parsed(text, part.start, part.end, at, broken)
        if (read !== undefined) parts.push([part.name, read])
      }
      found.push([name, opens === '[' ? parts.map(([, part]) => part) : Object.fromEntries(parts)])
      if (end === null) broken.push({ at: `.${many}`, message: 'the file ends within it' })
      continue
    }
    const read = parsed(text, start, end, `.${name}`, broken)
    if (read !== undefined) found.push([name, read])
  }
  return { value: Object.fromEntries(found), broken }
}

function parsed(text: string, start: number, end: number | null, at: string, broken: Broken[]): unknown {
  if (end === null) {
    broken.push({ at, message: 'the file ends within it' })
    return undefined
  }
  try {
    return JSON.parse(text.slice(start, end))
  } catch (error) {
    broken.push({ at, message: `not JSON: ${error instanceof Error ? error.message : String(error)}` })
    return undefined
  }
}

interface Member {
  /** Key or index. */
  readonly name: string
  readonly start: number
  /** Null when the text ends first. */
  readonly end: number | null
}

/** Members of the object or list that begins at `open`, as far as they can be told apart. */
function* members(text: string, open: number): Iterable<Member> {
  const isObject = text[open] === '{'
  let at = open + 1
  for (let index = 0; ; index++) {
    at = skip(text, at, ' \t\r\n,')
    if (at >= text.length || text[at] === '}' || text[at] === ']') return
    let name = String(index)
    if (isObject) {
      const end = endOfValue(text, at)
      if (end === null) return
      try {
        name = String(JSON.parse(text.slice(at, end)))
      } catch {
        name = text.slice(at, end)
      }
      at = skip(text, end, ' \t\r\n:')
      if (at >= text.length) return
    }
    const end = endOfValue(text, at)
    yield { name, start: at, end }
    if (end === null) return
    at = Math.max(end, at + 1)
  }
}

function skip(text: string, from: number, signs: string): number {
  let at = from
  while (at < text.length && signs.includes(text[at] as string)) at++
  return at
}

/** The first place after the value that begins at `start`; null when the text ends within it. */
function endOfValue(text: string, start: number): number | null {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at++) {
    const sign = text[at] as string
    if (inString) {
      if (sign === '\\') at++
      else if (sign === '"') inString = false
      if (!inString && depth === 0 && sign === '"') return at + 1
    } else if (sign === '"') inString = true
    else if (sign === '{' || sign === '[') depth++
    else if (sign === '}' || sign === ']') {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (depth === 0 && (sign === ',' || sign === ':' || ' \t\r\n'.includes(sign))) return at
  }
  return null
}
