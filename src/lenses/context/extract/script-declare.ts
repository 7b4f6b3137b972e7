/**
 * First pass over a TypeScript or JavaScript file: opens scopes, declares names in them, and adds a concept for every declaration that has
 * one.
 */
import {
  byKind,
  docBefore,
  exported,
  localKey,
  type Meaning,
  meant,
  type Scope,
  type Self,
  step,
  TYPE,
  type Visit,
  words,
} from './code-file.ts'
import { type ConceptType, HARD, MODERATE } from './concept.ts'
import { addCaveats } from './draft.ts'
import { NONE, type Node } from './grammars.ts'
import {
  argumentOf,
  FUNCTION_VALUES,
  IS_FUNCTION_VALUE,
  parameterType,
  partOf,
  requiredModule,
  type ScriptFile,
  statementOf,
  writtenType,
} from './script-values.ts'

const FUNCTION_DECLARATIONS = 'function_declaration generator_function_declaration function_signature'
const METHODS = 'method_definition abstract_method_signature method_signature'
export const IS_METHOD: ReadonlySet<string> = new Set(words(METHODS))
const FIELDS = 'public_field_definition field_definition'
export const IS_FIELD: ReadonlySet<string> = new Set(words(FIELDS))
export const CLASSES = 'class_declaration abstract_class_declaration class'
/**
 * Kinds of nodes whose body opens no scope (region where names are valid): the body shares the scope already opened for the parameters or
 * names.
 */
const WITH_OWN_BODY: ReadonlySet<string> = new Set(
  words(`${FUNCTION_DECLARATIONS} ${FUNCTION_VALUES} ${METHODS} internal_module module`),
)
const TYPEDEF = /@typedef\s*\{\s*import\(\s*['"]([^'"]{1,300})['"]\s*\)\.([\w$]+)\s*\}\s*([\w$]+)/g
/** Largest depth of nested destructuring patterns whose names are declared. */
const MAX_PATTERNS = 20

export const DECLARES: ReadonlyMap<string, Visit<ScriptFile>> = byKind<Visit<ScriptFile>>({
  [FUNCTION_DECLARATIONS]: declareFunction,
  [FUNCTION_VALUES]: (file, node) => openFunction(file, node),
  [METHODS]: declareMethod,
  [FIELDS]: declareField,
  [CLASSES]: declareClass,
  interface_declaration: (file, node) => declareType(file, node, 'Interface'),
  type_alias_declaration: (file, node) => declareType(file, node, 'TypeAlias'),
  enum_declaration: (file, node) => declareType(file, node, 'Enum'),
  variable_declarator: declareVariable,
  'internal_module module': openNamespace,
  import_statement: declareImport,
  assignment_expression: declareAssignment,
  export_statement: declareDefault,
  // Kinds of nodes that are types with type parameters of their own; each opens a scope.
  'function_type constructor_type call_signature construct_signature conditional_type mapped_type_clause': openScope,
  // Kinds of blocks that form a scope for `let` and `const`.
  'statement_block for_statement switch_body class_static_block': (file, node) => {
    const isOwn = file.field(node) === 'body' && WITH_OWN_BODY.has(file.kind(file.parent(node)))
    if (!isOwn) file.openScope(node)
  },
  for_in_statement: (file, node) => {
    const scope = file.openScope(node)
    const isOf = file.childOf(node, ':of') !== NONE
    if (file.child(node, 'kind') === NONE) return
    const element: Meaning = isOf ? { value: file.child(node, 'right'), step: 'element' } : null
    bindPattern(file, file.child(node, 'left'), element, scope)
  },
  catch_clause: (file, node) => bindPattern(file, file.child(node, 'parameter'), null, file.openScope(node)),
  type_parameter: (file, node) => {
    declareTypeName(file, node, file.child(node, 'name'), { bound: file.child(node, 'constraint') })
  },
  infer_type: (file, node) => declareTypeName(file, node, file.inside(node), null),
  comment: (file: ScriptFile, node: Node) => {
    const text = file.text(node)
    addCaveats(file.draft, text, file.start(node), file.owner(node))
    // In JavaScript, a JSDoc `@typedef` that imports a type declares its name in the whole file.
    if (file.draft.language !== 'javascript' || !text.includes('@typedef')) return
    for (const [, module, name, local] of text.matchAll(TYPEDEF)) {
      declare(file.top, local as string, meant(exported(module as string, name as string)), 'type')
    }
  },
})

function openScope(file: ScriptFile, node: Node): void {
  file.openScope(node)
}

function declare(scope: Scope, name: string, meaning: Meaning, space: 'value' | 'type' | 'both' = 'value'): void {
  if (space !== 'type') scope.declare(name, meaning)
  if (space !== 'value') scope.declare(TYPE + name, meaning)
}

function declareTypeName(file: ScriptFile, node: Node, name: Node, meaning: Meaning): void {
  file.markDeclaring(name)
  declare(file.scope(node), file.text(name), meaning, 'type')
}

// Adds the concepts of TypeScript and JavaScript files with their names, ranges in the text, and signatures.

function addConcept(file: ScriptFile, node: Node, type: ConceptType, name: string, span: Node = node): string {
  return add(file, node, span, type, name, file.outside(node).frame.prefix + name)
}

/** Adds a method with the name `Class.member`. All overloads and accessors of a member form one concept. */
function addMethod(file: ScriptFile, node: Node, classKey: string, name: string): string {
  const methods = file.methods.get(classKey) ?? new Map<string, string>()
  file.methods.set(classKey, methods)
  const known = methods.get(name)
  if (known !== undefined) {
    file.extend(node, known)
    return known
  }
  const prefix = prefixOf(classKey)
  const className = prefix.slice(prefix.lastIndexOf('.', prefix.length - 2) + 1)
  const key = add(file, node, node, 'Method', className + name, prefix + name)
  methods.set(name, key)
  return key
}

function add(file: ScriptFile, node: Node, span: Node, type: ConceptType, name: string, qualifiedName: string): string {
  // The signature ends where the body begins, also where the function is the value of a variable.
  const holders = [file.child(node, 'value'), file.child(node, 'right'), node]
  const body = holders.map(holder => file.child(holder, 'body')).find(found => found !== NONE)
  const head = file.source.slice(file.start(span), body === undefined ? file.end(node) : file.start(body))
  const signature = head.replace(/\s*=>\s*$/, '')
  return file.add(node, { type, name, qualifiedName, signature, doc: docBefore(file, span) }, span)
}

/** Prefix of the qualified names of declarations within a concept. */
function prefixOf(key: string): string {
  return `${key.slice(key.indexOf(' ') + 1)}.`
}

// Declares functions, classes, types and namespaces.

function declareFunction(file: ScriptFile, node: Node): void {
  const name = file.child(node, 'name')
  file.markDeclaring(name)
  const text = file.text(name)
  const outer = file.scope(node)
  const known = localKey(outer.own.get(text))
  // All overloads of a function form one concept.
  if (known?.startsWith('Function ') === true) {
    file.extend(node, known, statementOf(file, node))
    file.declared.set(node, known)
  } else if (text !== '') {
    const key = addConcept(file, node, 'Function', text, statementOf(file, node))
    file.declared.set(node, key)
    declare(outer, text, { ref: { local: key } })
  }
  openFunction(file, node)
}

/**
 * Opens the scope of a function. `self`: what `this` refers to within the function. Without it, an arrow function keeps the `this` of the
 * enclosing code, and in other functions `this` is unknown.
 */
function openFunction(file: ScriptFile, node: Node, self?: Self | null): void {
  const isArrow = file.kind(node) === 'arrow_function'
  const key = file.declared.get(node)
  const own = self === undefined ? (isArrow ? {} : { self: null }) : { self }
  const scope = file.openScope(node, {
    isFunction: true,
    ...(key === undefined ? {} : { prefix: prefixOf(key) }),
    ...own,
  })
  const single = file.child(node, 'parameter')
  if (single !== NONE) {
    bindPattern(file, single, argumentOf(file, node), scope)
    return
  }
  for (const [at, parameter] of file.all(node, 'parameters*').entries()) {
    const pattern = file.child(parameter, 'pattern')
    bindPattern(file, pattern === NONE ? parameter : pattern, meaningOfParameter(file, node, parameter, at), scope)
  }
  const name = file.kind(node) === 'function_expression' ? file.child(node, 'name') : NONE
  if (name !== NONE) {
    file.markDeclaring(name)
    declare(scope, file.text(name), meant(file.local(node)))
  }
}

function meaningOfParameter(file: ScriptFile, fn: Node, parameter: Node, at: number): Meaning {
  const type = file.child(parameter, 'type')
  if (type !== NONE) return { type }
  const isAssigned = file.kind(parameter) === 'assignment_pattern'
  const name = file.text(isAssigned ? file.child(parameter, 'left') : parameter)
  const written = parameterType(file, fn, name)
  if (written !== null) return { late: () => writtenType(file, written, fn) }
  const value = file.child(parameter, isAssigned ? 'right' : 'value')
  if (value !== NONE) return { value }
  return at === 0 ? argumentOf(file, fn) : null
}

function declareClass(file: ScriptFile, node: Node): void {
  const outer = file.scope(node)
  const name = file.child(node, 'name')
  const text = file.text(name)
  file.markDeclaring(name)
  // A class expression that is assigned to a variable already has the concept key of the variable.
  if (file.kind(node) !== 'class' && name !== NONE) {
    const key = addConcept(file, node, 'Class', text, statementOf(file, node))
    declare(outer, text, { ref: { local: key } }, 'both')
    file.declared.set(node, key)
  }
  const key = file.declared.get(node)
  if (key === undefined) {
    file.openScope(node, { self: null })
    return
  }
  const scope = file.openScope(node, { prefix: prefixOf(key), self: { key, isStatic: false } })
  if (name !== NONE) declare(scope, text, { ref: { local: key } }, 'both')
  file.methods.set(key, file.methods.get(key) ?? new Map())
}

function declareMethod(file: ScriptFile, node: Node): void {
  const { self } = file.scope(node).frame
  const isMember = file.kind(file.parent(node)) === 'class_body' && self !== null
  const name = file.memberName(node)
  if (isMember && name !== null && name !== 'constructor') {
    file.declared.set(node, addMethod(file, node, self.key, name))
  }
  const isStatic = file.childOf(node, ':static') !== NONE
  openFunction(file, node, isMember ? { key: self.key, isStatic } : null)
}

function declareField(file: ScriptFile, node: Node): void {
  const { self } = file.scope(node).frame
  const value = file.child(node, 'value')
  const name = file.memberName(node)
  if (self === null) return
  if (file.childOf(node, ':static') !== NONE) file.openScope(node, { self: { ...self, isStatic: true } })
  if (name !== null && IS_FUNCTION_VALUE.has(file.kind(value))) {
    file.declared.set(value, addMethod(file, node, self.key, name))
  }
}

function declareType(file: ScriptFile, node: Node, type: 'Interface' | 'TypeAlias' | 'Enum'): void {
  const name = file.child(node, 'name')
  file.markDeclaring(name)
  const text = file.text(name)
  if (text === '') return
  const outer = file.scope(node)
  const known = localKey(outer.own.get(TYPE + text))
  if (known?.startsWith(`${type} `) === true) {
    // An interface or enum may be declared in several parts, which form one concept.
    file.extend(node, known, statementOf(file, node))
    file.declared.set(node, known)
  } else {
    const key = addConcept(file, node, type, text, statementOf(file, node))
    file.declared.set(node, key)
    declare(outer, text, { ref: { local: key } }, type === 'Enum' ? 'both' : 'type')
  }
  file.openScope(node)
}

function openNamespace(file: ScriptFile, node: Node): void {
  const name = file.child(node, 'name')
  if (name === NONE) return
  for (let at = name; at < file.until(name); at++) file.markDeclaring(at)
  const text = file.nameOf(name)
  const outer = file.scope(node)
  const known = outer.own.get(text)
  // A namespace may be declared in several parts, which share one scope.
  const isKnown = known !== undefined && known !== null && 'scope' in known
  const prefix = file.kind(name) === 'string' ? outer.frame.prefix : `${outer.frame.prefix}${text}.`
  if (isKnown) file.enterScope(node, known.scope)
  else file.openScope(node, { isFunction: true, prefix })
  declare(outer, text, { scope: file.scope(node) })
}

/** Declares a function or class without a name that is exported by `export default`. */
function declareDefault(file: ScriptFile, node: Node): void {
  const value = file.childOf(node, ':default') === NONE ? NONE : file.child(node, 'value')
  const isClass = file.kind(value) === 'class'
  if (!isClass && !IS_FUNCTION_VALUE.has(file.kind(value))) return
  const name = file.textAt(value, 'name') || 'default'
  file.declared.set(value, addConcept(file, value, isClass ? 'Class' : 'Function', name, node))
}

// Declares variables. A variable whose value is a function or class becomes a concept of that kind, an exported one becomes a constant, and
// others are only names.

function declareVariable(file: ScriptFile, node: Node): void {
  const name = file.child(node, 'name')
  const value = file.child(node, 'value')
  const statement = file.parent(node)
  const isVar = file.kind(statement) === 'variable_declaration'
  const scope = isVar ? file.scope(node).functionScope : file.scope(node)
  // The concept's range in the text is the whole statement, unless the statement declares several variables.
  const span = file.childOf(statement, ':,') === NONE ? statementOf(file, statement) : node
  const module = requiredModule(file, value)
  const isConstant = (leaf: Node): boolean => {
    if (module !== null || file.kind(file.child(statement, 'kind')) !== ':const') return false
    if (file.kind(statementOf(file, statement)) === 'export_statement') return true
    return scope === file.top && file.exportedNames.has(file.text(leaf))
  }
  const isName = file.kind(name) === 'identifier'
  const kind = isName ? file.kind(value) : ''
  const type = IS_FUNCTION_VALUE.has(kind) ? 'Function' : kind === 'class' ? 'Class' : 'Constant'
  if (isName && (type !== 'Constant' || isConstant(name))) {
    file.markDeclaring(name)
    const key = addConcept(file, node, type, file.text(name), span)
    file.declared.set(type === 'Constant' ? node : value, key)
    declare(scope, file.text(name), { ref: { local: key } }, type === 'Class' ? 'both' : 'value')
    return
  }
  const written = file.child(node, 'type')
  const given: Meaning = written !== NONE ? { type: written } : value === NONE ? null : { value }
  const meaning = module === null ? given : meant(exported(module, null))
  // In `export const { a, b } = …`, every exported name becomes a constant.
  bindPattern(file, name, meaning, scope, leaf =>
    !isName && isConstant(leaf) ? addConcept(file, leaf, 'Constant', file.text(leaf), span) : null,
  )
}

/**
 * Declares the names in a pattern such as `a`, `{ a, b: c = 1 }` or `[a, ...b]`. `onName` is called for every name; if it returns the key
 * of a concept, the name refers to that concept.
 */
function bindPattern(
  file: ScriptFile,
  pattern: Node,
  meaning: Meaning,
  scope: Scope,
  onName: (leaf: Node) => string | null = () => null,
  depth = 0,
): void {
  if (pattern === NONE || depth > MAX_PATTERNS) return
  const within = (part: Node, of: Meaning): void => bindPattern(file, part, of, scope, onName, depth + 1)
  switch (file.kind(pattern)) {
    case 'identifier':
    case 'shorthand_property_identifier_pattern': {
      file.markDeclaring(pattern)
      const key = onName(pattern)
      declare(scope, file.text(pattern), key === null ? meaning : { ref: { local: key } })
      return
    }
    case 'assignment_pattern':
    case 'object_assignment_pattern':
      within(file.child(pattern, 'left'), meaning)
      return
    case 'rest_pattern':
      within(file.inside(pattern), null)
      return
    case 'array_pattern':
      for (const part of file.parts(pattern)) within(part, elementOf(file, meaning))
      return
    case 'object_pattern':
      for (const part of file.parts(pattern)) {
        const kind = file.kind(part)
        if (kind === 'pair_pattern') {
          within(file.child(part, 'value'), partOf(file, meaning, file.textAt(part, 'key')))
        } else if (kind === 'object_assignment_pattern') {
          within(part, partOf(file, meaning, file.textAt(part, 'left')))
        } else if (kind === 'rest_pattern') within(part, null)
        else if (kind === 'shorthand_property_identifier_pattern') within(part, partOf(file, meaning, file.text(part)))
      }
  }
}

function elementOf(file: ScriptFile, of: Meaning): Meaning {
  return of === null ? null : { late: depth => step(file.meaning(of, depth), 'element') }
}

// Declares what a file imports, and what a CommonJS module exports by assignment.

function declareImport(file: ScriptFile, node: Node): void {
  const clause = file.childOf(node, 'import_clause')
  const required = file.childOf(node, 'import_require_clause')
  const module = file.stringOf(file.child(required === NONE ? node : required, 'source'))
  if (module === null) return
  const isTypeOnly = file.childOf(node, ':type') !== NONE
  let [names, types] = [0, 0]
  const declareName = (leaf: Node, name: string | null): void => {
    file.markDeclaring(leaf)
    declare(file.scope(node), file.text(leaf), meant(exported(module, name)), 'both')
  }
  if (required !== NONE) declareName(file.inside(required), 'export=')
  for (const part of file.parts(clause)) {
    const kind = file.kind(part)
    if (kind === 'identifier') declareName(part, 'default')
    if (kind === 'namespace_import') declareName(file.inside(part), null)
    if (kind !== 'named_imports') names++
    for (const specifier of kind === 'named_imports' ? file.children(part) : []) {
      if (file.kind(specifier) !== 'import_specifier') continue
      const [name, alias] = [file.child(specifier, 'name'), file.child(specifier, 'alias')]
      file.markDeclaring(name)
      declareName(alias === NONE ? name : alias, file.nameOf(name))
      names++
      if (file.childOf(specifier, ':type') !== NONE) types++
    }
  }
  dependOn(file, module, isTypeOnly || (names > 0 && types === names) ? MODERATE : HARD)
}

export function dependOn(file: ScriptFile, module: string, weight: number): void {
  const target = module === '' ? null : exported(module, null)
  if (target !== null) file.draft.refer(file.draft.fileKey, 'DEPENDS_ON', target, weight)
}

/**
 * The name under which an assignment exports: `x` for `exports.x` and `module.exports.x`, `export=` for `module.exports`; null for any
 * other assignment.
 */
function exportedName(file: ScriptFile, left: Node): string | null {
  const object = file.child(left, 'object')
  const property = file.textAt(left, 'property')
  const kind = file.kind(object)
  if (kind === 'member_expression') return exportedName(file, object) === 'export=' ? property : null
  const name = kind === 'identifier' ? file.text(object) : ''
  const isModule = name === 'module' && property === 'exports'
  if ((!isModule && name !== 'exports') || file.top.find(name) !== undefined) return null
  return isModule ? 'export=' : property
}

interface CommonExport {
  /** Name under which the value is exported; `export=` when it is the whole module. */
  readonly name: string
  /** Node of the assignment, or of one property of an exported object. */
  readonly node: Node
  readonly value: Node
  /** Kind of the syntax node that declares the export (field `node`). */
  readonly kind: string
}

/**
 * Finds what a CommonJS module exports by an assignment: `exports.x = …`, `module.exports = …`, and each property of `module.exports = { x,
 * y: …, z() {} }`.
 */
export function* commonExports(file: ScriptFile, assignment: Node): Iterable<CommonExport> {
  const [left, right] = [file.child(assignment, 'left'), file.child(assignment, 'right')]
  const name = file.kind(left) === 'member_expression' ? exportedName(file, left) : null
  if (name === null) return
  if (name !== 'export=' || file.kind(right) !== 'object') {
    yield { name, node: assignment, value: right, kind: 'assignment_expression' }
    return
  }
  for (const node of file.children(right)) {
    const kind = file.kind(node)
    if (kind === 'pair') yield { name: file.textAt(node, 'key'), node, value: file.child(node, 'value'), kind }
    if (kind === 'shorthand_property_identifier') yield { name: file.text(node), node, value: node, kind }
    if (kind === 'method_definition') yield { name: file.textAt(node, 'name'), node, value: node, kind }
  }
}

/** Declares functions that are exported by assignment, as in `exports.f = …` and `module.exports = { … }`. */
function declareAssignment(file: ScriptFile, node: Node): void {
  for (const { name, node: part, value, kind } of commonExports(file, node)) {
    const method = kind === 'method_definition' ? file.memberName(part) : null
    if (method !== null) file.declared.set(part, addConcept(file, part, 'Function', method))
    else declareValue(file, part, value, name === 'export=' ? 'default' : name)
  }
}

function declareValue(file: ScriptFile, node: Node, value: Node, name: string): void {
  const kind = file.kind(value)
  const isFunction = IS_FUNCTION_VALUE.has(kind)
  if (!isFunction && kind !== 'class') return
  const own = name === 'default' ? file.textAt(value, 'name') : ''
  file.declared.set(value, addConcept(file, node, isFunction ? 'Function' : 'Class', own || name))
}
