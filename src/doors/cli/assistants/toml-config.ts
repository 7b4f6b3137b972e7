/**
 * Sets or takes out the server's tables in TOML by whole lines, which leaves comments and order as they were. Whether the
 * rest still says what it said is then tried with a parser: what cannot be done so is refused.
 */
import { parse, stringify, TomlError, type TomlTable } from 'smol-toml'
import { brokenConfig, type ConfigEdit, editByHand, SERVER_NAME } from './config-text.ts'

/** The text after the edit. Throws `invalid_argument` with line and column for broken TOML, `conflict` as said above. */
export function editToml(text: string, edit: ConfigEdit): string {
  const before = parsed(text, edit.file)
  const present = entryIn(before, edit.key)
  if (edit.entry === null ? present === undefined : says(present, edit.entry)) return text
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const kept = present === undefined ? text : withoutTables(text, edit.key)
  const after = edit.entry === null ? kept : `${apart(kept, eol)}${tableOf(edit.key, present, edit.entry, eol)}`
  mustKeepTheRest(before, after, edit)
  return after
}

function tableOf(key: string, present: TomlTable | undefined, entry: object, eol: string): string {
  const table = { [key]: { [SERVER_NAME]: { ...present, ...entry } } }
  return `${stringify(table).trim().replaceAll('\n', eol)}${eol}`
}

/** With an empty line at the end, if there is anything before it. */
function apart(text: string, eol: string): string {
  const trimmed = text.replace(/(\r?\n)+$/, '')
  return trimmed.trim() === '' ? '' : `${trimmed}${eol}${eol}`
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

function mustKeepTheRest(before: TomlTable, after: string, edit: ConfigEdit): void {
  let read: TomlTable
  try {
    read = parse(after)
  } catch {
    throw editByHand(edit.file, edit.key, 'the servers are written in a form that this command cannot add to')
  }
  const isDone = edit.entry === null ? entryIn(read, edit.key) === undefined : says(entryIn(read, edit.key), edit.entry)
  if (!isDone || stringify(rest(read, edit.key)) !== stringify(rest(before, edit.key))) {
    throw editByHand(edit.file, edit.key, 'the entry cannot be changed without touching what is beside it')
  }
}

function rest(document: TomlTable, key: string): TomlTable {
  const { [key]: servers, ...others } = document
  if (!isTable(servers)) return document
  const { [SERVER_NAME]: _ours, ...kept } = servers
  return Object.keys(kept).length === 0 ? others : { ...others, [key]: kept }
}

function entryIn(document: TomlTable, key: string): TomlTable | undefined {
  const servers = document[key]
  const entry = isTable(servers) ? servers[SERVER_NAME] : undefined
  return isTable(entry) ? entry : undefined
}

function says(present: TomlTable | undefined, entry: object): boolean {
  return Object.entries(entry).every(([name, value]) => JSON.stringify(present?.[name]) === JSON.stringify(value))
}

function isTable(value: unknown): value is TomlTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

function parsed(text: string, file: string): TomlTable {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [said = ''] = error.message.split('\n')
    throw brokenConfig(file, error.line, error.column, `not TOML (${said.replace(/^Invalid TOML document: /, '')})`)
  }
}
