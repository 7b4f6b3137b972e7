/** First pass over definitions: a concept for each of them, notes in comments, and what the file imports. */
import { addCaveats, isComment } from '../comments.ts'
import type { ConceptType } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { addConcept } from './concepts.ts'
import type { DefinitionsFile } from './definitions-file.ts'
import { own } from './dialects.ts'
import { declareFunction, isPrototype } from './functions.ts'
import { importedModules } from './names.ts'
import { declareType, openImplementation } from './types.ts'

export function declareAll(file: DefinitionsFile): void {
  file.eachNode((node, kind) => {
    file.enter(node)
    if (!kind.startsWith(':')) declareNode(file, node, kind)
  })
}

function declareNode(file: DefinitionsFile, node: Node, kind: string): void {
  const { tree, draft, dialect } = file
  const type = own(dialect.types, kind)
  const constant = own(dialect.constants, kind)
  if (type !== undefined) declareType(file, node, type)
  else if (dialect.functions.has(kind) || isPrototype(file, node, kind)) declareFunction(file, node)
  else if (constant !== undefined) declareConstant(file, node, constant)
  else if (kind === 'mod_item') declareModule(file, node)
  else if (kind === 'impl_item') openImplementation(file, node)
  else if (isComment(kind)) addCaveats(draft, file.text(node), tree.start(node), file.owner(node))
  if (!dialect.imports.has(kind)) return
  for (const module of importedModules(tree, node, file.language)) {
    // `use tools::*` of a module that the file declares is none of another crate's.
    file.later(() => {
      if (!file.modules.has(module)) draft.refer(draft.fileKey, 'DEPENDS_ON', { module, name: null })
    })
  }
}

/** A module of Rust, written in place or as a file of its own. */
function declareModule(file: DefinitionsFile, node: Node): void {
  const name = file.text(file.tree.child(node, 'name'))
  const within = file.scope(node)
  if (name === '') return
  addConcept(file, node, 'Module', name, within.prefix + name)
  file.modules.add(name)
  file.open(node, { typeName: null, prefix: `${within.prefix}${name}.`, isFunction: false })
}

/** `type` is Function for a macro with parameters. */
function declareConstant(file: DefinitionsFile, node: Node, type: ConceptType): void {
  const { tree } = file
  const name = file.text(tree.child(node, 'name'))
  // What is defined as nothing only guards a header.
  const isGuard = tree.kind(node) === 'preproc_def' && tree.child(node, 'value') === NONE
  const within = file.scope(node)
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) || name === '_' || isGuard || within.isFunction) return
  const key = addConcept(file, node, type, name, within.prefix + name)
  if (type === 'Function' && !file.functions.has(name)) file.functions.set(name, key)
}
