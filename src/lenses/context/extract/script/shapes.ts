/** What other files can see of the classes, functions, types and constants of a script. */
import type { Reference, Shape } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { memberName } from './concepts.ts'
import { valueType, writtenType } from './jsdoc.ts'
import { FIELDS, METHODS } from './kinds.ts'
import type { ScriptFile } from './script-file.ts'
import { typeSymbol, wrap } from './types.ts'
import type { ScriptValues } from './values.ts'

export function shapeAll(file: ScriptFile, values: ScriptValues): void {
  for (const [node, key] of file.classes) merge(file, key, classShape(file, values, node))
  for (const [node, key] of file.functions) {
    const returns = values.returned(node)
    if (returns !== null && !file.draft.shapes.get(key)?.returns) merge(file, key, { returns })
  }
  for (const [node, key] of file.constants) {
    const type = file.tree.child(node, 'type')
    const value = type === NONE ? values.value(file.tree.child(node, 'value')) : values.type(type)
    if (value !== null) merge(file, key, { value })
  }
  for (const [node, key] of file.aliases) merge(file, key, typeShape(file, values, node))
  for (const [key, methods] of file.methods) merge(file, key, { members: methodsOf(methods) })
  assignedMembers(file, values)
}

function merge(file: ScriptFile, key: string, shape: Shape): void {
  const known = file.draft.shapes.get(key)
  const members = { ...shape.members, ...known?.members }
  const bases = [...(known?.bases ?? []), ...(shape.bases ?? [])]
  const merged = {
    ...shape,
    ...known,
    ...(Object.keys(members).length > 0 ? { members } : {}),
    ...(bases.length > 0 ? { bases } : {}),
  }
  if (Object.keys(merged).length > 0) file.draft.shapes.set(key, merged)
}

function methodsOf(methods: ReadonlyMap<string, string>): Record<string, Reference> {
  return Object.fromEntries([...methods].map(([name, key]) => [name, { local: key }]))
}

function classShape(file: ScriptFile, values: ScriptValues, node: Node): Shape {
  const { tree } = file
  const members: [string, Reference][] = []
  for (const member of tree.children(tree.child(node, 'body'))) {
    const kind = tree.kind(member)
    const name = memberName(file, member)
    if (name === null) continue
    if (name === 'constructor') members.push(...parameterMembers(file, values, member))
    else if (FIELDS.has(kind)) put(members, name, fieldValue(file, values, member))
    else if (METHODS.has(kind) && tree.childOf(member, ':get') !== NONE) put(members, name, values.returned(member))
  }
  return { members: Object.fromEntries(members), bases: basesOf(file, values, node) }
}

function put(members: [string, Reference][], name: string, value: Reference | null): void {
  if (value !== null) members.push([name, value])
}

function fieldValue(file: ScriptFile, values: ScriptValues, field: Node): Reference | null {
  const type = file.tree.child(field, 'type')
  const written = type === NONE ? valueType(file, field) : null
  if (written !== null) return writtenType(file, written, field)
  return type === NONE ? values.value(file.tree.child(field, 'value')) : values.type(type)
}

/** `constructor(private readonly store: Store)` */
function parameterMembers(file: ScriptFile, values: ScriptValues, maker: Node): [string, Reference][] {
  const { tree } = file
  const members: [string, Reference][] = []
  for (const parameter of tree.children(tree.child(maker, 'parameters'))) {
    const isMember =
      tree.childOf(parameter, 'accessibility_modifier') !== NONE || tree.childOf(parameter, ':readonly') !== NONE
    if (isMember) put(members, file.text(tree.child(parameter, 'pattern')), values.type(tree.child(parameter, 'type')))
  }
  return members
}

function basesOf(file: ScriptFile, values: ScriptValues, node: Node): Reference[] {
  const { tree } = file
  const bases: Reference[] = []
  for (const part of tree.children(tree.childOf(node, 'class_heritage'))) {
    const kind = tree.kind(part)
    if (kind.startsWith(':') || kind === 'implements_clause') continue
    const base = values.value(kind === 'extends_clause' ? tree.child(part, 'value') : part)
    if (base !== null) bases.push(base)
  }
  return bases
}

function typeShape(file: ScriptFile, values: ScriptValues, node: Node): Shape {
  const { tree } = file
  const kind = tree.kind(node)
  if (kind === 'type_alias_declaration') {
    const value = tree.child(node, 'value')
    if (tree.kind(value) === 'object_type') return { members: typeMembers(file, values, value) }
    const stands = values.type(value)
    return stands === null ? {} : { value: stands }
  }
  if (kind !== 'interface_declaration') return {}
  const bases: Reference[] = []
  for (const base of tree.children(tree.childOf(node, 'extends_type_clause'))) {
    const symbol = tree.kind(base).startsWith(':') ? null : typeSymbol(file, base, values, 0)
    if (symbol !== null) bases.push(symbol)
  }
  return { bases, members: typeMembers(file, values, tree.child(node, 'body')) }
}

function typeMembers(file: ScriptFile, values: ScriptValues, body: Node): Record<string, Reference> {
  const { tree } = file
  const members: [string, Reference][] = []
  for (const member of tree.children(body)) {
    const name = memberName(file, member)
    if (name === null) continue
    if (tree.kind(member) === 'property_signature') put(members, name, values.type(tree.child(member, 'type')))
    if (tree.kind(member) === 'method_signature') put(members, name, wrap(values.returned(member), 'function'))
  }
  return Object.fromEntries(members)
}

/** `this.x = …` in a class without a field `x`. */
function assignedMembers(file: ScriptFile, values: ScriptValues): void {
  if (file.draft.language !== 'javascript') return
  file.eachNode((node, kind) => {
    if (kind === 'assignment_expression') assignMember(file, values, node)
  })
}

function assignMember(file: ScriptFile, values: ScriptValues, assignment: Node): void {
  const { tree } = file
  const left = tree.child(assignment, 'left')
  if (tree.kind(left) !== 'member_expression' || tree.kind(tree.child(left, 'object')) !== 'this') return
  const self = file.scope(assignment).self
  const name = file.text(tree.child(left, 'property'))
  if (self === null || file.draft.shapes.get(self.key)?.members?.[name] !== undefined) return
  const written = valueType(file, tree.parent(assignment))
  const value =
    written === null ? values.value(tree.child(assignment, 'right')) : writtenType(file, written, assignment)
  if (value !== null) merge(file, self.key, { members: { [name]: value } })
}
