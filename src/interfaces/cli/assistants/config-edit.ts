/** Sets or removes the server's entry in a configuration file; every other byte, comments included, stays as it was. */
import { isDeepStrictEqual } from 'node:util'
import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { parse, stringify, TomlError, type TomlTable } from 'smol-toml'
import { QuerentError } from '../../../model/errors.ts'
import type { ConfigEntry } from './clients.ts'

/** The server's name in every configuration. */
const SERVER_NAME = 'querent'

export interface ConfigEdit {
  /** For messages. */
  readonly file: string
  /** The object that holds the servers by name. */
  readonly key: string
  /** null removes the entry. */
  readonly entry: ConfigEntry | null
}

/** The JSON text after the edit. Throws `invalid_argument` with line and column where the text is not such a file. */
export function editJson(text: string, edit: ConfigEdit): string {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const body = text.slice(mark.length)
  return mark + edited(body.trim() === '' ? '{}\n' : body, edit)
}

function edited(text: string, { file, key, entry }: ConfigEdit): string {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  for (const { error, offset } of errors) throw broken(file, text, offset, `not JSON (${printParseErrorCode(error)})`)
  if (root?.type !== 'object') throw broken(file, text, 0, 'expected a JSON object')
  const servers = findNodeAtLocation(root, [key])
  if (servers !== undefined && servers.type !== 'object') {
    throw broken(file, text, servers.offset, `${key}: expected an object`)
  }
  const present = findNodeAtLocation(root, [key, SERVER_NAME])
  if (entry === null) return present?.parent === undefined ? text : withoutMember(text, present.parent)
  if (servers === undefined) return withMember(text, root, key, { [SERVER_NAME]: entry })
  if (present === undefined) return withMember(text, servers, SERVER_NAME, entry)
  // What else the entry says (its environment, for example) is the user's. Formatting options would format neighbours too.
  const set = (before: string, path: string[], value: unknown) => applyEdits(before, modify(before, path, value, {}))
  if (present.type !== 'object') return set(text, [key, SERVER_NAME], entry)
  return Object.entries(entry).reduce((before, [name, value]) => {
    const old = findNodeAtLocation(present, [name])
    const isSame = old !== undefined && isDeepStrictEqual(getNodeValue(old), value)
    return isSame ? before : set(before, [key, SERVER_NAME, name], value)
  }, text)
}

/** The member comes last, indented as its neighbours are. */
function withMember(text: string, object: Node, name: string, value: object): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  const last = object.children?.at(-1)
  const at = last === undefined ? object.offset + 1 : last.offset + last.length
  if (last !== undefined && !text.slice(object.offset, last.offset).includes('\n')) {
    return `${text.slice(0, at)}, ${JSON.stringify(name)}: ${JSON.stringify(value)}${text.slice(at)}`
  }
  const outer = indentAt(text, object.offset)
  const inner = last === undefined ? outer + unit : indentAt(text, last.offset)
  const lines = JSON.stringify(value, null, unit).replaceAll('\n', eol + inner)
  const member = `${text.slice(0, at)}${last === undefined ? '' : ','}${eol}${inner}${JSON.stringify(name)}: ${lines}`
  // Of an empty object, the brace moves to a line of its own.
  const rest = text.slice(at)
  return last === undefined && /^\s*\}/.test(rest) ? member + eol + outer + rest.trimStart() : member + rest
}

/** Without the comma behind it, or that before it where it is the last. */
function withoutMember(text: string, member: Node): string {
  const before = text.slice(0, member.offset)
  const after = text.slice(member.offset + member.length)
  const comma = /^\s*,/.exec(after)?.[0]
  return comma === undefined ? before.replace(/,?\s*$/, '') + after : before.trimEnd() + after.slice(comma.length)
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? ''
}

function broken(file: string, text: string, offset: number, expected: string): QuerentError {
  const lines = text.slice(0, offset).split('\n')
  return brokenAt(file, lines.length, (lines.at(-1)?.length ?? 0) + 1, expected)
}

/** `line` and `column` count from 1. */
function brokenAt(file: string, line: number, column: number, expected: string): QuerentError {
  const message = `${file}:${line}:${column}: ${expected}; correct the file, nothing was written`
  return new QuerentError('invalid_argument', message, { field: 'client', file, line, column, expected })
}

/**
 * The TOML text after the edit, made by whole lines. Throws `invalid_argument` with line and column for broken TOML, and
 * `conflict` where the result would not say the same beside the entry, as a parser reads it.
 */
export function editToml(text: string, { file, key, entry }: ConfigEdit): string {
  const { [key]: given, ...others } = readToml(text, file)
  const { [SERVER_NAME]: present, ...servers } = (given ?? {}) as TomlTable
  const wanted = entry === null ? undefined : { ...(present as TomlTable | undefined), ...(entry as TomlTable) }
  if (isSame(wanted, present)) return text
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const kept = present === undefined ? text : withoutTables(text, key)
  const table = wanted === undefined ? '' : stringify({ [key]: { [SERVER_NAME]: wanted } })
  const apart = wanted === undefined || kept.trim() === '' ? '' : eol
  const head = wanted === undefined ? kept : kept.replace(/(\r?\n)*$/, kept.trim() === '' ? '' : eol)
  const after = `${head}${apart}${table.trim().replaceAll('\n', eol)}${wanted === undefined ? '' : eol}`
  const expected = { ...others, [key]: { ...servers, ...(wanted && { [SERVER_NAME]: wanted }) } }
  if (isSame({ [key]: {}, ...tomlOrNull(after) }, expected)) return after
  const why = `the entry cannot be changed without touching what is beside it`
  const message = `${file}: ${why}; change ${key}.${SERVER_NAME} by hand, nothing was written`
  throw new QuerentError('conflict', message, { file, key })
}

/** Without the lines from a header of the server's tables to the next header. */
function withoutTables(text: string, key: string): string {
  const ours = new RegExp(`^\\s*\\[\\s*${key}\\s*\\.\\s*["']?${SERVER_NAME}["']?\\s*[.\\]]`)
  let inside = false
  const lines = text.split(/(?<=\n)/).filter(line => {
    if (/^\s*\[/.test(line)) inside = ours.test(line)
    return !inside
  })
  return lines.join('').replace(/(\r?\n)(?:\r?\n)+$/, '$1')
}

/** The parser makes tables without a prototype. */
function isSame(one: unknown, other: unknown): boolean {
  const [plain, otherPlain] = [one, other].map(value => JSON.parse(JSON.stringify(value ?? null)) as unknown)
  return isDeepStrictEqual(plain, otherPlain)
}

function tomlOrNull(text: string): TomlTable | null {
  try {
    return parse(text)
  } catch {
    return null
  }
}

function readToml(text: string, file: string): TomlTable {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [reason = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n')
    throw brokenAt(file, error.line, error.column, `not TOML (${reason})`)
  }
}
