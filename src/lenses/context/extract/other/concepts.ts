/** Concepts of definitions: their spans and signatures, and where they are placed. */
import { docBefore } from '../comments.ts'
import type { ConceptType } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import type { DefinitionsFile } from './definitions-file.ts'

/**
 * Adds the concept, places it, and makes it the owner of all within the node. Gives its key. `owner`: the type that the
 * declaration itself names.
 */
export function addConcept(
  file: DefinitionsFile,
  node: Node,
  type: ConceptType,
  name: string,
  qualifiedName: string,
  owner: string | null = null,
): string {
  const { tree, draft } = file
  const body = tree.child(node, 'body')
  const above = tree.parent(node)
  const span = /^(?:type_declaration|template_declaration)$/.test(tree.kind(above)) ? above : node
  const key = draft.add({
    type,
    name,
    qualifiedName,
    start: tree.start(span),
    end: tree.end(span),
    signature: tree.text.slice(tree.start(span), body === NONE ? tree.end(node) : tree.start(body)),
    doc: docBefore(tree, span),
  })
  file.declared.set(node, key)
  const outer = file.ownerAbove(node)
  const typeName = owner ?? (type === 'Method' && outer === null ? file.scope(node).typeName : null)
  file.openOwner(node, key)
  if (typeName === null) draft.place(key, outer)
  else file.later(() => draft.place(key, file.types.get(typeName) ?? null))
  return key
}
