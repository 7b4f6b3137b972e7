/** Concepts of declarations: their names, spans and signatures, and where they are placed. */
import { docBefore } from '../comments.ts'
import type { ConceptType } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import type { ScriptFile } from './script-file.ts'

/** Adds the concept, places it, and makes it the owner of all within the node. Gives its key. */
export function addConcept(file: ScriptFile, node: Node, type: ConceptType, name: string, span: Node = node): string {
  const parent = file.tree.parent(node)
  return add(file, node, span, type, name, file.scope(parent === NONE ? node : parent).prefix + name)
}

/** Named `Class.member`; one concept for all overloads and accessors of a name. */
export function addMethod(file: ScriptFile, node: Node, classKey: string, name: string): string {
  const methods = file.methods.get(classKey) ?? new Map<string, string>()
  file.methods.set(classKey, methods)
  const known = methods.get(name)
  if (known !== undefined) {
    extendConcept(file, node, known)
    file.openOwner(node, known)
    return known
  }
  const prefix = prefixOf(classKey)
  const className = prefix.slice(prefix.lastIndexOf('.', prefix.length - 2) + 1)
  const key = add(file, node, node, 'Method', className + name, prefix + name)
  methods.set(name, key)
  return key
}

/** A further part of what is known: an overload, an accessor. */
export function extendConcept(file: ScriptFile, node: Node, key: string): void {
  file.draft.extend(key, file.tree.start(node), file.tree.end(node))
}

/** What stands in front of the qualified names within a concept. */
export function prefixOf(key: string): string {
  return `${key.slice(key.indexOf(' ') + 1)}.`
}

/** The statement that exports the declaration, or else the declaration. */
export function statementOf(file: ScriptFile, node: Node): Node {
  const parent = file.tree.parent(node)
  if (parent === NONE) return node
  const kind = file.tree.kind(parent)
  return kind === 'export_statement' || kind === 'ambient_declaration' ? statementOf(file, parent) : node
}

/** Null for computed names. */
export function memberName(file: ScriptFile, node: Node): string | null {
  const name = file.tree.child(node, 'name')
  const found = name === NONE ? file.tree.child(node, 'property') : name
  if (found === NONE || file.tree.kind(found) === 'computed_property_name') return null
  return file.stringOf(found) ?? file.text(found)
}

function add(file: ScriptFile, node: Node, span: Node, type: ConceptType, name: string, qualifiedName: string): string {
  const { tree, draft } = file
  const key = draft.add({
    type,
    name,
    qualifiedName,
    start: tree.start(span),
    end: tree.end(span),
    signature: tree.text.slice(tree.start(span), signatureEnd(file, node)).replace(/\s*=>\s*$/, ''),
    doc: docBefore(tree, span),
  })
  draft.place(key, file.ownerAbove(node))
  file.openOwner(node, key)
  return key
}

/** Where the body begins, or the end. */
function signatureEnd(file: ScriptFile, node: Node): number {
  const { tree } = file
  const values = [tree.child(node, 'value'), tree.child(node, 'right')].filter(value => value !== NONE)
  for (const holder of [...values, node]) {
    const body = tree.child(holder, 'body')
    if (body !== NONE) return tree.start(body)
  }
  return tree.end(node)
}
