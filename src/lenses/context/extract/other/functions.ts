/** Functions and methods, where they are defined and where they are only announced. */
import type { Node } from '../syntax-tree.ts'
import { addConcept } from './concepts.ts'
import type { DefinitionsFile } from './definitions-file.ts'
import { declaredName } from './names.ts'

/** One concept for all overloads of a method, and for its declaration and its definition. */
export function declareFunction(file: DefinitionsFile, node: Node): void {
  const { tree } = file
  const declared = declaredName(tree, node, file.language)
  if (declared === null || declared.name === '') return
  const within = file.scope(node)
  const typeName = within.isFunction ? null : (declared.owner ?? within.typeName)
  const name = typeName === null ? declared.name : `${typeName}.${declared.name}`
  const known = typeName === null ? undefined : file.methods.get(name)
  if (known !== undefined) {
    file.draft.extend(known, tree.start(node), tree.end(node))
    file.openOwner(node, known)
    file.declared.set(node, known)
  } else {
    const prefix = declared.owner === null ? within.prefix : `${declared.owner}.`
    const type = typeName === null ? 'Function' : 'Method'
    const key = addConcept(file, node, type, name, prefix + declared.name, declared.owner)
    if (typeName !== null) file.methods.set(name, key)
    else if (!file.functions.has(name)) file.functions.set(name, key)
  }
  file.open(node, {
    typeName: typeName ?? within.typeName,
    prefix: `${within.prefix}${declared.name}.`,
    isFunction: true,
    selfName: declared.selfName ?? within.selfName ?? null,
  })
}

/** C and C++ declare in headers what is defined elsewhere. */
export function isPrototype(file: DefinitionsFile, node: Node, kind: string): boolean {
  if ((kind !== 'field_declaration' && kind !== 'declaration') || file.scope(node).isFunction) return false
  const { tree } = file
  let declarator = tree.child(node, 'declarator')
  while (/^(?:pointer|reference)_declarator$/.test(tree.kind(declarator))) declarator = file.inside(declarator)
  return /^c(?:pp)?$/.test(file.language) && tree.kind(declarator) === 'function_declarator'
}
