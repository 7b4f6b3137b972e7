/**
 * Reads Python: modules, classes, functions and methods. Docstrings and other strings declare nothing. Only modules, classes, functions and
 * comprehensions are scopes, and methods cannot use the names of their class directly.
 */
import {
  byKind,
  CodeFile,
  exported,
  instance,
  localKey,
  type Meaning,
  meant,
  member,
  named,
  type Reader,
  rules,
  type Scope,
  step,
  symbolIn,
  type Visit,
} from './code-file.ts'
import { HARD, isUndeclared, MODERATE, type Reference } from './concept.ts'
import { addCaveats, type Draft } from './draft.ts'
import { NONE, type Node, type SyntaxTree } from './grammars.ts'

const LISTS = /^(?:[Ll]ist|[Ss]et|[Tt]uple|[Ff]rozen[Ss]et|Sequence|Iterable|Iterator|Collection|Generator|deque)$/
const MAPS = /^(?:[Dd]ict|Mapping|MutableMapping|OrderedDict|defaultdict)$/
const WRAPPERS = /^(?:Optional|Union|Annotated|Final|ClassVar|Awaitable|Coroutine|Type|type)$/

const PYTHON: Reader = {
  values: rules<PythonFile>({
    // A name that the file does not declare may come from another module through `import *`, so it is then looked up among what the file
    // itself exports.
    identifier: named(({ draft }, name) =>
      draft.stars.size === 0 ? { name } : member({ local: draft.fileKey }, name),
    ),
    attribute: 'member object attribute',
    call: called,
    'await parenthesized_expression conditional_expression boolean_operator as_pattern': 'value',
    named_expression: 'value value',
    assignment: 'value right',
    subscript: 'element value',
    'list tuple set': 'list',
  }),
  types: rules<PythonFile>({
    type: 'type',
    'identifier attribute': (file, node, depth) => instance(file.value(node, depth)),
    generic_type: generic,
    'binary_operator union_type': (file, node, depth) => first(file.parts(node), part => file.type(part, depth)),
    string: written,
  }),
  symbols: new Map(),
}

class PythonFile extends CodeFile {
  /** Keys of the functions for which only `@overload` declarations, and no implementation, were seen so far. */
  readonly overloads: Set<string> = new Set()

  constructor(draft: Draft, tree: SyntaxTree) {
    super(draft, tree, PYTHON)
  }

  /** The node of a class or function definition together with its decorators. */
  decorated(definition: Node): Node {
    const above = this.parent(definition)
    return this.kind(above) === 'decorated_definition' ? above : definition
  }

  /** Text after the @ of each decorator of a definition, such as `property` or `app.get("/")`. */
  decorators(definition: Node): string[] {
    const whole = this.decorated(definition)
    if (whole === definition) return []
    const decorators = [...this.children(whole)].filter(part => this.kind(part) === 'decorator')
    return decorators.map(part => this.text(this.inside(part)))
  }

  *definitions(kind: 'class_definition' | 'function_definition'): Iterable<readonly [Node, string]> {
    for (const one of this.declared) if (this.kind(one[0]) === kind) yield one
  }
}

export function readPython(draft: Draft, tree: SyntaxTree): void {
  const file = new PythonFile(draft, tree)
  file.declare(DECLARES)
  file.visit(REFERS)
  const properties = new Set<string>()
  for (const [node, key] of file.definitions('function_definition')) {
    shapeFunction(file, node, key)
    if (file.decorators(node).some(name => /property$/.test(name))) properties.add(key)
  }
  for (const [node, key] of file.definitions('class_definition')) shapeClass(file, node, key, properties)
  file.visit(byKind({ assignment: shareMember }))
  for (const [name, meaning] of file.top.own) {
    const target = file.meaning(meaning)
    if (target !== null && !isUndeclared(target)) draft.exports.set(name, target)
  }
}

// First pass over a Python file: opens scopes, declares imports, and adds a concept for every class, function and method.

const DECLARES = byKind<Visit<PythonFile>>({
  class_definition: declareClass,
  function_definition: declareFunction,
  lambda: (file, node) => {
    file.openScope(node, { isFunction: true })
    bindParameters(file, node, null)
  },
  'list_comprehension set_comprehension dictionary_comprehension generator_expression': (file, node) => {
    file.openScope(node)
  },
  'import_statement import_from_statement': declareImport,
  assignment: (file, node) => {
    const [type, right] = [file.child(node, 'type'), file.child(node, 'right')]
    bind(file, file.child(node, 'left'), type !== NONE ? { type } : right === NONE ? null : { value: right })
  },
  named_expression: (file, node) => {
    const name = file.child(node, 'name')
    file.markDeclaring(name)
    // A name that `:=` assigns in a comprehension belongs to the scope of the enclosing function.
    declare(file, file.scope(node).functionScope, file.text(name), { value: file.child(node, 'value') })
  },
  'for_statement for_in_clause': (file, node) => {
    bind(file, file.child(node, 'left'), { value: file.child(node, 'right'), step: 'element' })
  },
  as_pattern: (file, node) => {
    const target = file.child(node, 'alias')
    bind(file, target === NONE ? NONE : file.inside(target), { value: file.inside(node) })
  },
  comment: (file: PythonFile, node: Node) =>
    addCaveats(file.draft, file.text(node), file.start(node), file.owner(node)),
})

/** Meaning of a variable to which different values are assigned: nothing is known of its value. */
const UNCERTAIN: Meaning = { late: () => null }

/**
 * Kinds of syntax nodes that are literal values. A literal has no members declared in this code base. A variable that is assigned a literal
 * and one other value is therefore still taken to hold the other value.
 */
const LITERAL = /^(?:none|true|false|integer|float|string)$/

function declare(file: CodeFile, scope: Scope, name: string, meaning: Meaning): void {
  const before = scope.own.get(name)
  const value = meaning !== null && 'value' in meaning ? meaning.value : NONE
  if (before === undefined || before === null) scope.own.set(name, meaning)
  else if ('value' in before && !LITERAL.test(file.kind(value))) {
    const isSame =
      meaning !== null && 'step' in meaning === 'step' in before && file.text(value) === file.text(before.value)
    if (!isSame) scope.own.set(name, LITERAL.test(file.kind(before.value)) ? meaning : UNCERTAIN)
  }
}

function declareClass(file: PythonFile, node: Node): void {
  const name = file.textAt(node, 'name')
  const outer = file.scope(node)
  const key = addConcept(file, node, 'Class', name)
  declare(file, outer, name, { ref: { local: key } })
  file.openScope(node, {
    prefix: `${outer.frame.prefix}${name}.`,
    self: { key, isStatic: false },
    isHidden: true,
    isFunction: true,
  })
}

function declareFunction(file: PythonFile, node: Node): void {
  const name = file.textAt(node, 'name')
  const outer = file.scope(node)
  const { prefix, isHidden: isMethod, self } = outer.frame
  const known = localKey(outer.own.get(name))
  let key: string
  if (known !== null && (isMethod ? known.startsWith('Method ') : file.overloads.has(known))) {
    // A property and its setter form one method concept, and overloads form one function concept.
    key = known
    file.extend(node, key, file.decorated(node))
    file.declared.set(node, key)
  } else {
    const className = prefix.slice(prefix.lastIndexOf('.', prefix.length - 2) + 1)
    key = addConcept(file, node, isMethod ? 'Method' : 'Function', isMethod ? className + name : name, name)
    declare(file, outer, name, { ref: { local: key } })
  }
  if (file.decorators(node).some(decorator => /(?:^|\.)overload$/.test(decorator))) file.overloads.add(key)
  else file.overloads.delete(key)
  file.openScope(node, { prefix: `${prefix}${name}.`, isFunction: true })
  bindParameters(file, node, isMethod && self !== null ? self.key : null)
}

function addConcept(
  file: PythonFile,
  node: Node,
  type: 'Class' | 'Function' | 'Method',
  name: string,
  simple = name,
): string {
  const whole = file.decorated(node)
  const body = file.child(node, 'body')
  const head = file.source.slice(file.start(node), body === NONE ? file.end(node) : file.start(body))
  const signature = head.replace(/:?\s*(?:#.*)?$/, '')
  file.markDeclaring(file.child(node, 'name'))
  const qualifiedName = file.scope(node).frame.prefix + simple
  const key = file.add(node, { type, name, qualifiedName, signature, doc: docstring(file, body) }, whole)
  file.declared.set(node, key)
  // In the tree the decorators precede the definition within one node; they are assigned to the concept of the definition as well.
  for (const part of file.children(whole)) {
    const until = file.kind(part) === 'decorator' ? file.until(part) : part
    for (let at = part; at < until; at++) file.openOwner(at, key)
  }
  return key
}

function docstring(file: PythonFile, body: Node): string {
  const [first] = file.children(body)
  const text = first === undefined ? NONE : file.childOf(first, 'string')
  if (first === undefined || text === NONE || text !== first + 1) return ''
  const content = file.text(file.childOf(text, 'string_content'))
  return content.replace(/\n[ \t]+/g, '\n').trim()
}

function bindParameters(file: PythonFile, node: Node, classKey: string | null): void {
  const scope = file.scope(node)
  const decorators = file.decorators(node)
  for (const [at, parameter] of file.parts(file.child(node, 'parameters')).entries()) {
    const name = file.child(parameter, 'name')
    const isPlain = file.kind(parameter) === 'identifier'
    const leaf = isPlain ? parameter : name === NONE ? file.inside(parameter) : name
    const type = file.child(parameter, 'type')
    let meaning: Meaning = type === NONE ? null : { type }
    if (at === 0 && classKey !== null && !decorators.includes('staticmethod')) {
      const local = { local: classKey }
      meaning = { ref: decorators.includes('classmethod') ? local : { of: local, step: 'instance' } }
    }
    file.markDeclaring(leaf)
    declare(file, scope, file.text(leaf), meaning)
  }
}

function bind(file: PythonFile, left: Node, meaning: Meaning): void {
  if (left === NONE) return
  const scope = file.scope(file.parent(left))
  const isName = file.kind(left) === 'identifier'
  if (!isName && !/^(?:pattern_list|tuple_pattern|list_pattern)$/.test(file.kind(left))) return
  for (const part of isName ? [left] : file.children(left)) {
    if (file.kind(part) !== 'identifier') continue
    file.markDeclaring(part)
    declare(file, scope, file.text(part), isName ? meaning : null)
  }
}

/** Declares the names that an import statement introduces, in the scope that contains the statement. */
function declareImport(file: PythonFile, node: Node): void {
  const weight = isForTypes(file, node) ? MODERATE : HARD
  const scope = file.scope(node)
  const dependOn = (module: string, name: string | null) => {
    const target = exported(module, name)
    if (target !== null) file.draft.refer(file.draft.fileKey, 'DEPENDS_ON', target, weight)
  }
  const from = file.textAt(node, 'module_name').replace(/\s/g, '')
  if (from !== '') dependOn(from, null)
  if (file.childOf(node, 'wildcard_import') !== NONE) file.draft.stars.add(from)
  for (const part of file.children(node)) {
    if (file.field(part) !== 'name') continue
    const isAliased = file.kind(part) === 'aliased_import'
    const name = file.text(isAliased ? file.child(part, 'name') : part).replace(/\s/g, '')
    const alias = isAliased ? file.textAt(part, 'alias') : null
    for (let leaf = part; leaf < file.until(part); leaf++) file.markDeclaring(leaf)
    if (from === '') {
      dependOn(name, null)
      // The import `import a.b` declares the name `a`; `import a.b as c` declares the name `c`, which refers to `a.b`.
      const top = name.split('.')[0] as string
      declare(file, scope, alias ?? top, meant(exported(alias === null ? top : name, null)))
    } else {
      // A name imported with `from a import b` may itself be a module `a.b`.
      dependOn(from, name)
      declare(file, scope, alias ?? name, meant(exported(from, name)))
    }
  }
}

/** Whether the import is within `if TYPE_CHECKING:`, and so used only for types. */
function isForTypes(file: PythonFile, node: Node): boolean {
  const above = file.parent(file.parent(node))
  return above > 0 && file.kind(above) === 'if_statement' && /TYPE_CHECKING$/.test(file.textAt(above, 'condition'))
}

// Second pass over a Python file: adds references for what its concepts call, use and extend.

const REFERS = byKind<Visit<PythonFile>>({
  call: (file, node) => {
    const callee = file.child(node, 'function')
    if (file.kind(file.parent(node)) === 'decorator' || file.text(callee) === 'super') return
    file.refer(node, 'CALLS', file.value(callee))
  },
  class_definition: (file, node) => {
    for (const base of basesOf(file, node)) file.draft.refer(file.declared.get(node) as string, 'EXTENDS', base)
  },
  decorator: (file, node) => {
    const inner = file.inside(node)
    file.refer(node, 'USES', file.value(file.kind(inner) === 'call' ? file.child(inner, 'function') : inner))
  },
  identifier: use,
  string: (file, node) => {
    const type = file.kind(file.parent(node)) === 'type' ? file.type(node) : null
    if (type !== null && 'step' in type && type.step === 'instance') file.refer(node, 'USES', type.of)
  },
})

/** Adds a reference to a class or function that is named without being called. */
function use(file: PythonFile, node: Node): void {
  const field = file.field(node)
  const parent = file.parent(node)
  const kind = file.kind(parent)
  if (file.isDeclaring(node) || field === 'function' || field === 'attribute' || kind === 'decorator') return
  if (field === 'name' && kind === 'keyword_argument') return
  if (kind === 'argument_list' && file.kind(file.parent(parent)) === 'class_definition') return
  if (symbolIn(file.scope(node).find(file.text(node))) !== undefined) file.refer(node, 'USES', file.value(node))
}

function basesOf(file: PythonFile, node: Node): Reference[] {
  return [...file.children(file.child(node, 'superclasses'))].flatMap(part => {
    const base = file.kind(part) === 'subscript' ? file.child(part, 'value') : part
    return /^(?:identifier|attribute)$/.test(file.kind(base)) ? (file.value(base) ?? []) : []
  })
}

// Records what other files can use of a Python file: return values of functions, and base types and members of classes.

function shapeFunction(file: PythonFile, node: Node, key: string): void {
  const annotation = file.child(node, 'return_type')
  const statements = [...file.children(file.child(node, 'body'))].filter(one => file.kind(one) === 'return_statement')
  const returns = annotation === NONE ? first(statements, one => file.value(file.inside(one))) : file.type(annotation)
  if (returns !== null && !isUndeclared(returns)) file.draft.shapes.set(key, { returns })
}

function shapeClass(file: PythonFile, node: Node, key: string, properties: ReadonlySet<string>): void {
  const members: [string, Reference][] = []
  for (const [name, meaning] of file.scope(node).own) {
    const method = file.meaning(meaning)
    if (method === null || isUndeclared(method)) continue
    // In Python, reading a property calls its method, so the property's value is what the method returns.
    const isProperty = 'local' in method && properties.has(method.local)
    const member = isProperty ? file.draft.shapes.get(method.local)?.returns : method
    if (member !== undefined) members.push([name, member])
  }
  const bases = basesOf(file, node)
  file.draft.shapes.set(key, { members: Object.fromEntries(members), ...(bases.length > 0 ? { bases } : {}) })
}

/** Records, for other files, the member that an assignment `self.x = …` in a method declares. */
function shareMember(file: PythonFile, assignment: Node): void {
  const left = file.child(assignment, 'left')
  const object = file.child(left, 'object')
  if (file.kind(left) !== 'attribute' || file.kind(object) !== 'identifier') return
  const meaning = file.scope(object).find(file.text(object))
  const ref = meaning !== undefined && meaning !== null && 'ref' in meaning ? meaning.ref : null
  if (ref === null || !('step' in ref) || ref.step !== 'instance' || !('local' in ref.of)) return
  const name = file.textAt(left, 'attribute')
  const shape = file.draft.shapes.get(ref.of.local)
  if (shape?.members !== undefined && Object.hasOwn(shape.members, name)) return
  const type = file.child(assignment, 'type')
  const value = type === NONE ? file.value(file.child(assignment, 'right')) : file.type(type)
  if (value === null || isUndeclared(value)) return
  file.draft.shapes.set(ref.of.local, { ...shape, members: { ...shape?.members, [name]: value } })
}

// Rules for what expressions and types in Python refer to.

function called(file: PythonFile, node: Node, depth: number): Reference | null {
  const callee = file.child(node, 'function')
  if (file.text(callee) !== 'super') return step(file.value(callee, depth), 'call')
  const { self } = file.scope(node).frame
  return self === null ? null : member(instance({ local: self.key }), 'super')
}

function generic(file: PythonFile, node: Node, depth: number): Reference | null {
  const name = file.text(file.inside(node))
  const parts = file.parts(file.childOf(node, 'type_parameter'))
  const part = (at: number): Reference | null => file.type(parts[at] ?? NONE, depth)
  if (WRAPPERS.test(name)) return part(0)
  if (LISTS.test(name)) return step(part(0), 'list')
  return MAPS.test(name) ? step(part(1), 'map') : file.type(file.inside(node), depth)
}

/** The type that a string annotation names, as in `"Base"` and `"module.Base | None"`; null when it is unknown. */
function written(file: PythonFile, node: Node): Reference | null {
  for (const part of file.text(file.childOf(node, 'string_content')).split('|')) {
    const [, list, name] = /^\s*(?:(?:[Oo]ptional|([Ll]ist|Sequence))\[)?\s*([\w.]+)/.exec(part) ?? []
    const [first = '', ...members] = (name ?? '').split('.')
    const meaning = first === '' || first === 'None' ? undefined : file.scope(node).find(first)
    if (meaning === undefined || meaning === null || !('ref' in meaning) || 'of' in meaning.ref) continue
    const symbol = instance(members.reduce<Reference | null>(member, meaning.ref))
    return list === undefined ? symbol : step(symbol, 'list')
  }
  return null
}

function first<T>(all: Iterable<T>, find: (one: T) => Reference | null): Reference | null {
  for (const one of all) {
    const found = find(one)
    if (found !== null) return found
  }
  return null
}
