/**
 * Rules for what names, expressions and types in TypeScript and JavaScript refer to: a declaration, or a value of a class. Generic types
 * are followed only where they hold or wrap a value. In JavaScript, types in JSDoc comments count too: `@param {Option[]} options`,
 * `@returns {Promise<Command>}`, `@type {Help}`.
 */
import {
  CodeFile,
  docBefore,
  exported,
  instance,
  known,
  MAX_DEPTH,
  type Meaning,
  member,
  named,
  type Reader,
  rules,
  type Scope,
  step,
  TYPE,
  words,
} from './code-file.ts'
import { isUndeclared, type Reference } from './concept.ts'
import type { Draft } from './draft.ts'
import { NONE, type Node, type SyntaxTree } from './grammars.ts'

export const FUNCTION_VALUES = 'arrow_function function_expression generator_function'
export const IS_FUNCTION_VALUE: ReadonlySet<string> = new Set(words(FUNCTION_VALUES))

const WRAPPERS: ReadonlySet<string> = new Set(
  words('Promise PromiseLike Awaited Readonly Partial Required NonNullable NoInfer Pick Omit'),
)
const LISTS: ReadonlySet<string> = new Set(
  words(`Array ReadonlyArray Set ReadonlySet Iterable Iterator IterableIterator Generator AsyncIterable AsyncGenerator
    AsyncIterableIterator`),
)
const MAPS: ReadonlySet<string> = new Set(words('Map ReadonlyMap WeakMap Record'))
/** Methods of arrays and promises that pass an element or the result to the first parameter of their callback. */
const EACH: ReadonlySet<string> = new Set(
  words('map filter forEach some every find findIndex findLast flatMap sort toSorted then catch finally'),
)

const SCRIPT: Reader = {
  values: rules<ScriptFile>({
    [FUNCTION_VALUES]: (file, node, depth) => file.local(node) ?? step(returned(file, node, depth), 'function'),
    'identifier shorthand_property_identifier': named((_, name) => {
      const module = moduleInName(name)
      return module === null ? { name } : exported(module, null)
    }),
    this: selfAt,
    super: (file, node) => member(selfAt(file, node), 'super'),
    'member_expression nested_identifier': (file, node, depth) => {
      const name = file.textAt(node, 'property')
      const object = file.child(node, 'object')
      const within = namespaceAt(file, object, depth)?.own.get(name)
      return within === undefined ? member(file.value(object, depth), name) : file.meaning(within, depth)
    },
    call_expression: (file, node, depth) => {
      const module = requiredModule(file, node)
      return module === null ? step(file.value(file.child(node, 'function'), depth), 'call') : exported(module, null)
    },
    new_expression: created,
    as_expression: (file, node, depth) => {
      const [value = NONE, type = NONE] = file.parts(node)
      return type === NONE ? file.value(value, depth) : file.type(type, depth)
    },
    ternary_expression: (file, node, depth) => either(file, node, 'consequence', 'alternative', depth),
    binary_expression: (file, node, depth) => either(file, node, 'left', 'right', depth),
    class: (file, node) => file.local(node),
    'parenthesized_expression non_null_expression await_expression satisfies_expression': 'value',
    assignment_expression: 'value right',
    subscript_expression: 'element object',
    spread_element: 'element',
    array: 'list',
  }),
  types: rules<ScriptFile>({
    'type_identifier nested_type_identifier member_expression': instanceOf,
    generic_type: (file, node, depth) => {
      const name = file.child(node, 'name')
      const text = file.text(name)
      if (file.scope(node).find(TYPE + text) !== undefined) return instanceOf(file, name, depth)
      const parts = file.parts(file.child(node, 'type_arguments'))
      const part = (at: number): Reference | null => file.type(parts[at] ?? NONE, depth)
      if (WRAPPERS.has(text)) return part(0)
      if (LISTS.has(text)) return step(part(0), 'list')
      if (MAPS.has(text)) return step(part(1), 'map')
      return file.kind(name) === 'type_identifier' ? null : instanceOf(file, name, depth)
    },
    'union_type intersection_type': firstKnown,
    lookup_type: (file, node, depth) => {
      const [object = NONE, index = NONE] = file.parts(node)
      const name = file.stringOf(file.inside(index))
      const of = file.type(object, depth)
      return name === null ? step(of, 'element') : member(of, name)
    },
    this_type: (file, node) => {
      const { self } = file.scope(node).frame
      return self === null ? null : instance({ local: self.key })
    },
    'type_annotation parenthesized_type readonly_type constraint': 'type',
    array_type: 'list-type',
    function_type: 'function-type return_type',
    type_query: 'value',
  }),
  symbols: rules<ScriptFile>({
    'type_identifier identifier': (file, node) => {
      const name = file.text(node)
      const found = file.declaredAs(node, TYPE + name)
      return found === undefined ? { name } : found
    },
    generic_type: 'symbol name',
    nested_type_identifier: 'member module name',
    member_expression: (file, node, depth) => {
      const module = requiredModule(file, file.child(node, 'object'))
      return module === null ? file.value(node, depth) : exported(module, file.textAt(node, 'property'))
    },
  }),
}

export class ScriptFile extends CodeFile {
  /** Names that a separate `export` statement at the top level of the file exports. */
  readonly exportedNames: Set<string> = new Set()
  /** For each class, by its key, the keys of its methods by name. */
  readonly methods: Map<string, Map<string, string>> = new Map()

  constructor(draft: Draft, tree: SyntaxTree) {
    super(draft, tree, SCRIPT)
  }

  /** The text of a string node without its quotes; null for any other node. */
  stringOf(node: Node): string | null {
    return this.kind(node) === 'string' ? this.text(node).slice(1, -1) : null
  }

  /** The name that a node gives, which may be a string or an identifier. */
  nameOf(node: Node): string {
    return this.stringOf(node) ?? this.text(node)
  }

  /** Name of a class member; null where it is computed at run time. */
  memberName(node: Node): string | null {
    const name = this.child(node, 'name')
    const found = name === NONE ? this.child(node, 'property') : name
    return found === NONE || this.kind(found) === 'computed_property_name' ? null : this.nameOf(found)
  }
}

/**
 * What a call of the function returns, by its type annotation, else by the JSDoc `@returns` in JavaScript, else by its first return value;
 * null when unknown.
 */
export function returned(file: ScriptFile, node: Node, depth = 0): Reference | null {
  const annotation = file.child(node, 'return_type')
  if (annotation !== NONE) return file.type(annotation, depth)
  const written = /@returns?\s*\{([^}\n]{1,200})\}/.exec(commentOf(file, node))?.[1]
  if (written !== undefined) return writtenType(file, written, node)
  const body = file.child(node, 'body')
  if (file.kind(body) !== 'statement_block') return file.value(body, depth)
  const statement = file.childOf(body, 'return_statement')
  return statement === NONE ? null : file.value(file.inside(statement), depth)
}

function selfAt(file: ScriptFile, node: Node): Reference | null {
  const { self } = file.scope(node).frame
  if (self === null) return null
  return self.isStatic ? { local: self.key } : instance({ local: self.key })
}

function namespaceAt(file: ScriptFile, node: Node, depth: number): Scope | null {
  const kind = file.kind(node)
  if (depth > MAX_DEPTH || (kind !== 'identifier' && kind !== 'member_expression')) return null
  const meaning =
    kind === 'identifier'
      ? file.scope(node).find(file.text(node))
      : namespaceAt(file, file.child(node, 'object'), depth + 1)?.own.get(file.textAt(node, 'property'))
  return meaning !== undefined && meaning !== null && 'scope' in meaning ? meaning.scope : null
}

function created(file: ScriptFile, node: Node, depth: number): Reference | null {
  const callee = file.child(node, 'constructor')
  const of = file.value(callee, depth)
  if (of === null || !isUndeclared(of)) return instance(of)
  // In `new Map<string, Entry>()` and `new Set(list)`, the type of the elements comes from the type arguments or the argument.
  const parts = file.parts(file.child(node, 'type_arguments'))
  const text = file.text(callee)
  if (/^(?:Weak)?Map$/.test(text)) return step(file.type(parts[1] ?? NONE, depth), 'map')
  if (!/^(?:Weak)?Set$|^Array$/.test(text)) return null
  const [first = NONE] = parts
  return first === NONE
    ? file.value(file.inside(file.child(node, 'arguments')), depth)
    : step(file.type(first, depth), 'list')
}

function either(file: ScriptFile, node: Node, one: string, other: string, depth: number): Reference | null {
  return file.value(file.child(node, one), depth) ?? file.value(file.child(node, other), depth)
}

/**
 * What a property of a destructured value refers to, as `b` in `const { b } = a`. Where the value has an inline type, the property's type
 * is read from that type.
 */
export function partOf(file: ScriptFile, of: Meaning, name: string): Meaning {
  if (of === null) return null
  // A property of a module object is what the module exports under that name.
  const isModule = 'ref' in of && 'module' in of.ref && of.ref.name === null
  if (isModule && 'module' in of.ref) {
    const ref = exported(of.ref.module, name)
    return ref === null ? null : { ref }
  }
  return {
    late: depth => {
      const object = 'type' in of ? file.inside(of.type) : NONE
      for (const part of file.kind(object) === 'object_type' ? file.children(object) : []) {
        if (file.textAt(part, 'name') === name) return file.type(file.child(part, 'type'), depth)
      }
      return member(file.meaning(of, depth), name)
    },
  }
}

/** What the first parameter of a callback refers to, as in `list.map(…)`, where it is an element of the list. */
export function argumentOf(file: ScriptFile, fn: Node): Meaning {
  const list = file.parent(fn)
  const callee = file.kind(list) === 'arguments' ? file.child(file.parent(list), 'function') : NONE
  const name = file.textAt(callee, 'property')
  if (file.kind(callee) !== 'member_expression' || !EACH.has(name)) return null
  const object = file.child(callee, 'object')
  return name === 'then' ? { late: depth => known(file.value(object, depth)) } : { value: object, step: 'element' }
}

/** Name of the module in `require('x')` and `await import('x')`; null for any other expression. */
export function requiredModule(file: ScriptFile, node: Node): string | null {
  const kind = file.kind(node)
  if (kind === 'identifier') return moduleInName(file.text(node))
  if (kind === 'await_expression') return requiredModule(file, file.inside(node))
  if (kind !== 'call_expression') return null
  const callee = file.child(node, 'function')
  if (file.kind(callee) !== 'import' && file.text(callee) !== 'require') return null
  return file.stringOf(file.inside(file.child(node, 'arguments')))
}

/**
 * The module in a type such as `import('./a').Name`. Where the grammar does not know this syntax, `repair.ts` has turned the import into a
 * name, whose original text is read here.
 */
function moduleInName(name: string): string | null {
  return /^import\s*\(\s*(["'])([^"'\n]*)\1/.exec(name)?.[2] ?? null
}

function instanceOf(file: ScriptFile, node: Node, depth: number): Reference | null {
  const isName = file.kind(node) === 'type_identifier'
  const meaning = isName ? file.scope(node).find(TYPE + file.text(node)) : undefined
  const isParameter = meaning !== undefined && meaning !== null && 'bound' in meaning
  return isParameter ? file.type(meaning.bound, depth) : instance(file.symbol(node, depth))
}

/** Largest number of parts of a union type that are examined. */
const MAX_UNION = 30

/**
 * What the first known part of a union type refers to, such as A in `A | null`. In the tree, unions nest to the left, one level per part.
 */
function firstKnown(file: ScriptFile, node: Node, depth: number): Reference | null {
  const parts: Node[] = []
  const kind = file.kind(node)
  for (let at = node; at !== NONE; ) {
    const [left = NONE, right = NONE] = file.parts(at)
    if (right !== NONE) parts.unshift(right)
    if (left !== NONE && file.kind(left) !== kind) parts.unshift(left)
    at = left !== NONE && file.kind(left) === kind && parts.length < MAX_UNION ? left : NONE
  }
  for (const part of parts) {
    const found = file.type(part, depth)
    if (found !== null) return found
  }
  return null
}

// Reads types that are written in JSDoc comments.

const MAX_WRITTEN = 4

/** The type that the JSDoc of a function gives a parameter (`@param {…} name`), as text; null where there is none. */
export function parameterType(file: ScriptFile, fn: Node, name: string): string | null {
  const doc = commentOf(file, fn)
  if (!doc.includes('@param')) return null
  for (const [, type, named] of doc.matchAll(/@param\s*\{([^}\n]{1,200})\}\s*\[?([\w$]+)/g)) {
    if (named === name) return type ?? null
  }
  return null
}

/** The type in a JSDoc `@type {…}` before a statement or field; where there is none, the type of the assigned value. */
export function valueWritten(file: ScriptFile, statement: Node, value: Node): Reference | null {
  const doc = file.draft.language === 'javascript' ? docBefore(file, statement) : ''
  const written = /@type\s*\{([^}\n]{1,200})\}/.exec(doc)?.[1]
  return written === undefined ? file.value(value) : writtenType(file, written, statement)
}

/** Reference to a value of a type that is written in a comment; null when the type is unknown. */
export function writtenType(file: ScriptFile, text: string, at: Node, depth = 0): Reference | null {
  const type = text.trim().replace(/^[?!]/, '').replace(/=$/, '')
  if (depth > MAX_WRITTEN) return null
  const inner = (part: string): Reference | null => writtenType(file, part, at, depth + 1)
  if (type.includes('|') && !/[<(]/.test(type)) {
    return type.split('|').reduce<Reference | null>((found, part) => found ?? inner(part), null)
  }
  if (type.endsWith('[]')) return step(inner(type.slice(0, -2)), 'list')
  const [, wrapper, wrapped] = /^(Promise|Array|Set|Iterable)\.?<(.+)>$/.exec(type) ?? []
  if (wrapped !== undefined) return wrapper === 'Promise' ? inner(wrapped) : step(inner(wrapped), 'list')
  const [, module, name] = /^import\(['"](.+?)['"]\)\.([\w$]+)$/.exec(type) ?? []
  if (module !== undefined) return instance(exported(module, name as string))
  const [, first, part] = /^([\w$]+)(?:\.([\w$]+))?$/.exec(type) ?? []
  const of = first === undefined ? null : (file.declaredAs(at, TYPE + first) ?? null)
  return instance(part === undefined ? of : member(of, part))
}

function commentOf(file: ScriptFile, fn: Node): string {
  if (file.draft.language !== 'javascript' || fn === NONE) return ''
  const parent = file.parent(fn)
  const kind = file.kind(parent)
  if (kind === 'variable_declarator') return docBefore(file, statementOf(file, file.parent(parent)))
  if (kind === 'assignment_expression') return docBefore(file, file.parent(parent))
  return docBefore(file, kind === 'pair' || kind === 'field_definition' ? parent : statementOf(file, fn))
}

/** The `export` statement that contains a declaration; the declaration itself where it is not exported in place. */
export function statementOf(file: ScriptFile, node: Node): Node {
  const parent = file.parent(node)
  const kind = file.kind(parent)
  return kind === 'export_statement' || kind === 'ambient_declaration' ? statementOf(file, parent) : node
}
