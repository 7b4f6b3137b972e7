/** Where a text calls one of some names, by its syntax tree: in all languages that have a grammar, whatever the call leads to. */
import { words } from './code-file.ts'
import { NONE, type Node, type SyntaxTree } from './grammars.ts'

/** Of all grammars. With type arguments, Go has a call as a conversion. */
const CALLS: ReadonlySet<string> = new Set(
  words(`call_expression call invocation_expression function_call_expression member_call_expression
    nullsafe_member_call_expression scoped_call_expression method_invocation object_creation_expression new_expression
    type_conversion_expression macro_invocation`),
)
/** Fields of what is called; of `new A` in PHP it is the first child. */
const CALLEES: ReadonlySet<string | null> = new Set(words('function name method type constructor macro'))
/** Fields of the last name of a path, and of a name that has type arguments. */
const LAST_NAMES: ReadonlySet<string | null> = new Set(words('property attribute field name function type'))
/** Kinds whose last name has no field. */
const WRAPPERS =
  /^(?:parenthesized_expression|non_null_expression|(?:generic|qualified)_name|scoped_type_identifier|generic_type|conditional_access_expression)$/
const TYPE_ARGUMENTS = /^(?:type|template)_argument/
/** What the grammar leaves as text or could not read. */
const UNREAD = /^(?:token_tree|preproc_arg|)$/
const REGEXP_SIGNS = /[.*+?^${}()|[\]\\]/g

export interface WrittenCall {
  /** In UTF-16 units of the text. */
  readonly at: number
  readonly name: string
}

/** What may be a call of one of the names, by the text alone: all that are, and some that are not. */
export function possibleCalls(text: string, names: ReadonlySet<string>, isRuby: boolean): readonly WrittenCall[] {
  if (![...names].some(name => text.includes(name))) return []
  const alternatives = [...names].map(name => name.replace(REGEXP_SIGNS, '\\$&')).join('|')
  const name = `(?<![\\p{ID_Continue}$])(${alternatives})(?![\\p{ID_Continue}$])`
  const brackets = '(?=(?:(?:::)?[<[][^;]{0,300}?[>\\]])?[)\\s!?.]*[(`])'
  const pattern = isRuby ? name : `(?<=\\bnew\\s+[\\w.:\\\\]{0,200})${name}|${name}${brackets}`
  return [...text.matchAll(new RegExp(pattern, 'gu'))].map(({ index, 1: made, 2: called }) => {
    return { at: index, name: (made ?? called) as string }
  })
}

/** Whether it is a call. In a part that could not be read, what has brackets is one. */
export function isCall(tree: SyntaxTree, { at, name }: WrittenCall): boolean {
  const last = tree.lastFrom(at)
  let node = last
  while (node !== NONE && tree.start(node) === at && tree.end(node) !== at + name.length) node--
  if (node !== NONE && tree.start(node) === at && isCalled(tree, node)) return true
  return isUnread(tree, last) && /^\s*\(/.test(tree.source.slice(at + name.length, at + name.length + 100))
}

/** What the node calls; NONE where it is no call. */
export function calleeOf(tree: SyntaxTree, node: Node): Node {
  const kind = tree.kind(node)
  if (!CALLS.has(kind)) return NONE
  for (const child of tree.children(node)) if (CALLEES.has(tree.field(child))) return child
  return kind === 'object_creation_expression' ? tree.inside(node) : NONE
}

function isCalled(tree: SyntaxTree, name: Node): boolean {
  for (let node = atMark(tree, name); ; ) {
    const parent = tree.parent(node)
    if (parent === NONE) return false
    const [kind, field] = [tree.kind(parent), tree.field(node)]
    if (CALLS.has(kind)) return node === calleeOf(tree, parent)
    const isLast = field === null ? WRAPPERS.test(kind) && isLastName(tree, node) : LAST_NAMES.has(field)
    if (!isLast && !(field === 'operand' && kind === 'index_expression')) return false
    node = parent
  }
}

/** Of `a ?? b.run!()` the grammar has `(a ?? b.run)!`: what ends at the mark stands for its last name. */
function atMark(tree: SyntaxTree, name: Node): Node {
  let node = name
  while (tree.end(tree.parent(node)) === tree.end(name)) node = tree.parent(node)
  return tree.kind(tree.parent(node)) === 'non_null_expression' ? node : name
}

function isLastName(tree: SyntaxTree, node: Node): boolean {
  const parts = tree.parts(tree.parent(node)).filter(part => !TYPE_ARGUMENTS.test(tree.kind(part)))
  return parts.at(-1) === node
}

function isUnread(tree: SyntaxTree, leaf: Node): boolean {
  if (/comment|string/.test(tree.kind(leaf))) return false
  for (let node = leaf; node !== NONE; node = tree.parent(node)) if (UNREAD.test(tree.kind(node))) return true
  return false
}
