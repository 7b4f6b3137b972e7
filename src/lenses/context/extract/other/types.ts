/** Types: what is declared as one, of which sort, and what it builds on. */
import type { ConceptType } from '../concept.ts'
import { NONE, type Node, type SyntaxTree } from '../syntax-tree.ts'
import { addConcept } from './concepts.ts'
import type { DefinitionsFile } from './definitions-file.ts'
import { own } from './dialects.ts'

/** `usual`: the sort of type that the kind of node declares in this language. */
export function declareType(file: DefinitionsFile, node: Node, usual: ConceptType): void {
  const { tree } = file
  const inner = tree.child(node, 'type')
  const isTypedef = tree.kind(node) === 'type_definition'
  const name = isTypedef ? typedefName(tree, node) : file.text(tree.child(node, 'name'))
  const isUse = tree.kind(node).endsWith('_specifier') && tree.child(node, 'body') === NONE
  if (name === '' || isUse || (isTypedef && name === file.text(tree.child(inner, 'name')))) return
  const within = file.scope(node)
  const type = file.language === 'go' ? goType(tree.kind(inner), usual) : isTypedef ? typedefType(tree, inner) : usual
  const simple = name.replace(/.*::/, '')
  const key = addConcept(file, node, type, simple, within.prefix + simple)
  if (!file.types.has(simple)) file.types.set(simple, key)
  if (isTypedef && type === 'TypeAlias') {
    // The struct that gets a second name is no part of that name.
    file.closeOwner(node)
    return
  }
  file.open(node, { typeName: simple, prefix: `${within.prefix}${simple}.`, isFunction: false })
  // Java reads them where it links names.
  if (file.language !== 'java') for (const part of tree.children(node)) readBases(file, part, key)
}

/** `impl Trait for Type { … }` of Rust. */
export function openImplementation(file: DefinitionsFile, node: Node): void {
  const { tree } = file
  const name = file.text(tree.child(node, 'type')).replace(/<.*$/s, '')
  file.open(node, { typeName: name, prefix: `${name}.`, isFunction: false })
  // Rust links traits where it links names.
  if (file.language === 'rust') return
  const trait = file.text(tree.child(node, 'trait')).replace(/<.*$/s, '').replace(/.*::/, '')
  if (trait === '') return
  file.later(() => {
    const key = file.types.get(name)
    if (key !== undefined) buildOn(file, key, 'IMPLEMENTS', trait)
  })
}

const NAMES = /^(?:type_identifier|identifier|constant|name|qualified_identifier|generic_type|generic_name)$/

function readBases(file: DefinitionsFile, part: Node, key: string): void {
  const { tree } = file
  const relation = own(file.dialect.bases, tree.kind(part))
  if (relation === undefined) return
  for (let node = part + 1; node < tree.until(part); node = nextBase(tree, node)) {
    if (!NAMES.test(tree.kind(node))) continue
    const name = file
      .text(node)
      .replace(/<.*$/s, '')
      .replace(/.*(?:::|\.|\\)/, '')
    file.later(() => buildOn(file, key, relation, name))
  }
}

/** Names within a name, and arguments of a type, are no bases. */
function nextBase(tree: SyntaxTree, node: Node): Node {
  return /^(?:type_list|superclass)$/.test(tree.kind(node)) ? node + 1 : tree.until(node)
}

function buildOn(file: DefinitionsFile, key: string, relation: 'EXTENDS' | 'IMPLEMENTS', name: string): void {
  const target = file.types.get(name)
  // The grammar of C# has one list for both.
  const isInterface = target === undefined ? /^I[A-Z]/.test(name) : target.startsWith('Interface ')
  const isImplemented = file.language === 'csharp' && isInterface && !key.startsWith('Interface ')
  file.draft.refer(key, isImplemented ? 'IMPLEMENTS' : relation, target === undefined ? { name } : { local: target })
}

/** The last name of what is declared: `Point` of `typedef struct {…} Point`, `F` of `typedef int (*F)(int)`. */
function typedefName(tree: SyntaxTree, node: Node): string {
  const declarator = tree.child(node, 'declarator')
  for (let at = declarator; at !== NONE && at < tree.until(declarator); at++) {
    if (tree.kind(at) === 'type_identifier') return tree.textOf(at)
  }
  return ''
}

/** A name given to what has none of its own is its name. */
function typedefType(tree: SyntaxTree, inner: Node): ConceptType {
  if (tree.child(inner, 'body') === NONE || tree.child(inner, 'name') !== NONE) return 'TypeAlias'
  return tree.kind(inner) === 'enum_specifier' ? 'Enum' : 'Class'
}

function goType(kind: string, usual: ConceptType): ConceptType {
  if (kind === 'interface_type') return 'Interface'
  return kind === 'struct_type' ? 'Class' : usual === 'Class' ? 'TypeAlias' : usual
}
