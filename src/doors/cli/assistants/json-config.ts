/** Sets or takes out the server's entry in JSON, comments and all: every other byte stays as it was. */
import {
  applyEdits,
  findNodeAtLocation,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { brokenConfig, type ConfigEdit, SERVER_NAME } from './config-text.ts'
import { takenOut, withMember } from './json-members.ts'

/** The text after the edit. Throws `invalid_argument` with line and column where the text is not such a file. */
export function editJson(text: string, edit: ConfigEdit): string {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : ''
  const body = text.slice(mark.length)
  return mark + (body.trim() === '' ? changed('{}\n', edit) : changed(body, edit))
}

function changed(text: string, edit: ConfigEdit): string {
  const root = objectIn(text, edit.file)
  const servers = findNodeAtLocation(root, [edit.key])
  if (servers !== undefined) mustBeObject(text, servers, edit)
  const present = findNodeAtLocation(root, [edit.key, SERVER_NAME])
  if (edit.entry === null) return present?.parent === undefined ? text : takenOut(text, present.parent)
  if (servers === undefined) return withMember(text, root, edit.key, { [SERVER_NAME]: edit.entry })
  if (present === undefined) return withMember(text, servers, SERVER_NAME, edit.entry)
  if (present.type !== 'object') return withValue(text, [edit.key, SERVER_NAME], edit.entry)
  // What else the entry says (its environment, say) is the user's.
  return Object.entries(edit.entry).reduce((before, [name, value]) => {
    const old = findNodeAtLocation(present, [name])
    const isSame = old !== undefined && JSON.stringify(plainValue(old)) === JSON.stringify(value)
    return isSame ? before : withValue(before, [edit.key, SERVER_NAME, name], value)
  }, text)
}

/** Without formatting options: those would format the neighbours too. */
function withValue(text: string, path: string[], value: unknown): string {
  return applyEdits(text, modify(text, path, value, {}))
}

function objectIn(text: string, file: string): Node {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first !== undefined) {
    throw brokenConfig(file, ...placeOf(text, first.offset), `not JSON (${printParseErrorCode(first.error)})`)
  }
  if (root?.type !== 'object') throw brokenConfig(file, 1, 1, 'expected a JSON object')
  return root
}

function mustBeObject(text: string, node: Node, { file, key }: ConfigEdit): void {
  if (node.type !== 'object') throw brokenConfig(file, ...placeOf(text, node.offset), `${key}: expected an object`)
}

function placeOf(text: string, offset: number): [line: number, column: number] {
  const lines = text.slice(0, offset).split('\n')
  return [lines.length, (lines.at(-1)?.length ?? 0) + 1]
}

function plainValue(node: Node): unknown {
  return node.type === 'array' ? (node.children ?? []).map(plainValue) : node.value
}
