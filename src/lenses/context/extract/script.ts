/**
 * Second pass over a TypeScript or JavaScript file: what its concepts call, use, extend and export, and what other files can use of them.
 * Code in comments, strings and templates declares nothing.
 */
import { byKind, certain, exported as exportedFrom, known, step, symbolIn, TYPE, type Visit } from './code-file.ts'
import { HARD, MODERATE, type Reference, type Shape } from './concept.ts'
import type { Draft } from './draft.ts'
import { NONE, type Node, type SyntaxTree } from './grammars.ts'
import { CLASSES, commonExports, DECLARES, dependOn, IS_FIELD, IS_METHOD } from './script-declare.ts'
import { requiredModule, returned, ScriptFile, valueWritten } from './script-values.ts'

export function readScript(draft: Draft, tree: SyntaxTree): void {
  const file = new ScriptFile(draft, tree)
  collectExportedNames(file)
  file.declare(DECLARES)
  file.visit(REFERS)
  for (const [node, key] of file.declared) shapeOne(file, node, key)
  for (const [key, methods] of file.methods) {
    const members = [...methods].map(([name, local]) => [name, { local }] as const)
    file.shape(key, { members: Object.fromEntries(members) })
  }
  if (draft.language === 'javascript') file.visit(byKind({ assignment_expression: shapeAssigned }))
}

/**
 * Collects the names that are exported in a separate statement, before constants are declared: an exported constant is a concept wherever
 * in the file its export is.
 */
function collectExportedNames(file: ScriptFile): void {
  for (const statement of file.children(0)) {
    file.draft.step()
    const names = [...commonExports(file, file.childOf(statement, 'assignment_expression'))].map(({ value }) => value)
    if (file.kind(statement) === 'export_statement' && file.child(statement, 'source') === NONE) {
      names.push(file.child(statement, 'value'))
      if (file.childOf(statement, ':=') !== NONE) names.push(file.inside(statement))
      for (const specifier of file.parts(file.childOf(statement, 'export_clause'))) {
        names.push(file.child(specifier, 'name'))
      }
    }
    for (const name of names) {
      if (/^(?:shorthand_property_)?identifier$/.test(file.kind(name))) file.exportedNames.add(file.text(name))
    }
  }
}

const REFERS = byKind<Visit<ScriptFile>>({
  call_expression: (file, node) => {
    const callee = file.child(node, 'function')
    const kind = file.kind(callee)
    const module = requiredModule(file, node)
    if (kind === 'import') {
      if (module !== null) dependOn(file, module, MODERATE)
    } else if (module !== null && file.scope(node).find('require') === undefined) dependOn(file, module, HARD)
    else if (kind !== 'super') file.refer(node, 'CALLS', file.value(callee))
  },
  new_expression: (file, node) => file.refer(node, 'CALLS', file.value(file.child(node, 'constructor'))),
  'type_identifier nested_type_identifier': (file, node) => {
    const kind = file.kind(file.parent(node))
    if (file.isDeclaring(node) || kind === 'nested_type_identifier') return
    if (kind !== 'class_declaration' && !isBase(file, node)) file.refer(node, 'USES', known(file.symbol(node)))
  },
  'identifier shorthand_property_identifier': useValue,
  export_statement: referExport,
  assignment_expression: exportAssigned,
  [CLASSES]: (file, node) => {
    const key = file.declared.get(node)
    for (const [relation, base] of key === undefined ? [] : heritageOf(file, node)) {
      // In JavaScript a base class may be any expression; only names are followed, since nothing is known of an expression such as
      // `mixin(A)`.
      const isName = relation === 'IMPLEMENTS' || /^(?:identifier|member_expression)$/.test(file.kind(base))
      const target = !isName ? null : relation === 'EXTENDS' ? file.value(base) : file.symbol(base)
      if (target !== null) file.draft.refer(key as string, relation, target)
    }
  },
  interface_declaration: (file, node) => {
    const key = file.declared.get(node)
    for (const base of key === undefined ? [] : extendedBy(file, node)) file.draft.refer(key as string, 'EXTENDS', base)
  },
})

/**
 * Adds a reference for a function, class or constant that is named without being called, for example passed as an argument, compared or
 * thrown.
 */
function useValue(file: ScriptFile, node: Node): void {
  if (file.isDeclaring(node)) return
  const module = requiredModule(file, node)
  if (module !== null) dependOn(file, module, MODERATE)
  const field = file.field(node)
  const kind = file.kind(file.parent(node))
  if (field === 'function' || field === 'constructor' || kind === 'class_heritage' || kind === 'extends_clause') return
  if (kind === 'import_specifier' || kind === 'export_specifier' || kind === 'import_clause') return
  if (symbolIn(file.scope(node).find(file.text(node))) !== undefined) file.refer(node, 'USES', file.value(node))
}

/** Whether the node is the name of a base type, such as A in `extends A<B>` and `implements A<B>`. */
function isBase(file: ScriptFile, node: Node): boolean {
  let parent = file.parent(node)
  if (file.kind(parent) === 'generic_type' && file.field(node) === 'name') parent = file.parent(parent)
  return /^(?:implements_clause|extends_type_clause|extends_clause|class_heritage)$/.test(file.kind(parent))
}

type Heritage = readonly [relation: 'EXTENDS' | 'IMPLEMENTS', base: Node]

/** The expressions that a class extends, and the types that it implements. */
function heritageOf(file: ScriptFile, node: Node): Heritage[] {
  return file.parts(file.childOf(node, 'class_heritage')).flatMap((part): Heritage[] => {
    const kind = file.kind(part)
    if (kind === 'implements_clause') return file.parts(part).map(base => ['IMPLEMENTS', base])
    return [['EXTENDS', kind === 'extends_clause' ? file.child(part, 'value') : part]]
  })
}

/** References to the types that an interface extends. */
function extendedBy(file: ScriptFile, node: Node): Reference[] {
  return file.parts(file.childOf(node, 'extends_type_clause')).flatMap(base => file.symbol(base) ?? [])
}

// Reads the export statements of TypeScript and JavaScript files.

/** Reads one export statement: `export … from`, `export { a as b }`, `export default x`, `export =`, or an exported declaration. */
function referExport(file: ScriptFile, node: Node): void {
  const { draft } = file
  // An export inside a namespace is a member of the namespace and not an export of the file.
  if (file.parent(node) !== 0) return
  const module = file.stringOf(file.child(node, 'source'))
  if (module !== null) exportFrom(file, node, module)
  const declaration = file.child(node, 'declaration')
  const isDefault = file.childOf(node, ':default') !== NONE
  for (const specifier of specifiersOf(file, node)) {
    if (module === null) exportName(file, specifier.exported, file.text(specifier.name))
  }
  for (const name of declaration === NONE ? [] : declaredNames(file, declaration)) {
    exportName(file, isDefault ? 'default' : name, name)
  }
  const value = file.child(node, 'value')
  const target = known(file.value(value))
  if (target !== null) draft.exports.set('default', target)
  if (file.kind(value) === 'identifier') exportName(file, 'default', file.text(value))
  if (file.childOf(node, ':=') !== NONE) exportName(file, 'export=', file.text(file.inside(node)))
}

function exportFrom(file: ScriptFile, node: Node, module: string): void {
  const { exports, stars } = file.draft
  const share = (as: string, name: string | null): void => {
    const target = exportedFrom(module, name)
    if (target !== null) exports.set(as, target)
  }
  dependOn(file, module, file.childOf(node, ':type') === NONE ? HARD : MODERATE)
  const namespace = file.childOf(node, 'namespace_export')
  if (namespace !== NONE) {
    const name = file.inside(namespace)
    file.markDeclaring(name)
    share(file.nameOf(name), null)
  } else if (file.childOf(node, ':*') !== NONE) stars.add(module)
  for (const { exported, name } of specifiersOf(file, node)) share(exported, file.nameOf(name))
}

function specifiersOf(file: ScriptFile, node: Node): { readonly exported: string; readonly name: Node }[] {
  const specifiers = file.parts(file.childOf(node, 'export_clause'))
  return specifiers.flatMap(specifier => {
    if (file.kind(specifier) !== 'export_specifier') return []
    const [name, alias] = [file.child(specifier, 'name'), file.child(specifier, 'alias')]
    file.markDeclaring(name)
    file.markDeclaring(alias)
    return [{ exported: file.nameOf(alias === NONE ? name : alias), name }]
  })
}

function declaredNames(file: ScriptFile, declaration: Node): string[] {
  const own = file.child(declaration, 'name')
  if (own !== NONE) return [file.text(own)]
  const names: string[] = []
  for (let node = declaration; node < file.until(declaration); ) {
    const kind = file.kind(node)
    // The value of a declaration is skipped, except names and patterns: names within it are not declared by this statement.
    if (file.field(node) === 'value' && kind !== 'identifier' && !kind.endsWith('_pattern')) node = file.until(node)
    else {
      if (file.isDeclaring(node)) names.push(file.text(node))
      node++
    }
  }
  return names
}

/** Records that the file exports a name. One name may be both a type and a value; the type is then exported with the prefix `type:`. */
function exportName(file: ScriptFile, as: string, local: string): void {
  const { exports } = file.draft
  const [value, type] = [file.top.find(local), file.top.find(TYPE + local)]
  const valueRef = value === undefined ? null : file.meaning(value)
  const typeRef = type === undefined ? null : file.meaning(type)
  const first = valueRef ?? typeRef
  if (first !== null) exports.set(as, first)
  if (valueRef === null || typeRef === null || value === type) return
  if (JSON.stringify(valueRef) !== JSON.stringify(typeRef)) exports.set(`type:${as}`, typeRef)
}

function exportAssigned(file: ScriptFile, node: Node): void {
  for (const { name, value, kind } of commonExports(file, node)) {
    const found = known(kind === 'method_definition' ? file.local(value) : file.value(value))
    if (found !== null) file.draft.exports.set(name, found)
  }
}

// Records what other files can use of classes, functions, types and constants: base types, members, return types and values.

function shapeOne(file: ScriptFile, node: Node, key: string): void {
  const kind = file.kind(node)
  if (/^(?:abstract_)?class(?:_declaration)?$/.test(kind)) file.shape(key, classShape(file, node))
  else if (kind === 'variable_declarator') {
    const type = file.child(node, 'type')
    const value = type === NONE ? file.value(file.child(node, 'value')) : file.type(type)
    if (value !== null) file.shape(key, { value })
  } else if (/^(?:interface|type_alias|enum)_declaration$/.test(kind)) file.shape(key, typeShape(file, node))
  else {
    const returns = returned(file, node)
    if (returns !== null) file.shape(key, { returns })
  }
}

type Members = readonly (readonly [name: string, value: Reference | null])[]

function classShape(file: ScriptFile, node: Node): Shape {
  const members = file.all(node, 'body*').flatMap((part): Members => {
    const kind = file.kind(part)
    const name = file.memberName(part)
    if (name === 'constructor') return parameterMembers(file, part)
    if (name !== null && IS_FIELD.has(kind)) {
      const type = file.child(part, 'type')
      const value = type === NONE ? valueWritten(file, part, file.child(part, 'value')) : file.type(type)
      return [[name, value]]
    }
    const isGetter = name !== null && IS_METHOD.has(kind) && file.childOf(part, ':get') !== NONE
    return isGetter ? [[name, returned(file, part)]] : []
  })
  const extended = heritageOf(file, node).filter(([relation]) => relation === 'EXTENDS')
  return { members: certain(members), bases: extended.flatMap(([, base]) => file.value(base) ?? []) }
}

/** Members that a constructor declares by its parameters, as in `constructor(private readonly store: Store)`. */
function parameterMembers(file: ScriptFile, maker: Node): Members {
  const parameters = file.all(maker, 'parameters*').filter(parameter => {
    return file.childOf(parameter, 'accessibility_modifier') !== NONE || file.childOf(parameter, ':readonly') !== NONE
  })
  return parameters.map(one => [file.textAt(one, 'pattern'), file.type(file.child(one, 'type'))])
}

function typeShape(file: ScriptFile, node: Node): Shape {
  const kind = file.kind(node)
  if (kind === 'interface_declaration') {
    return { bases: extendedBy(file, node), members: typeMembers(file, file.child(node, 'body')) }
  }
  const value = kind === 'type_alias_declaration' ? file.child(node, 'value') : NONE
  if (file.kind(value) === 'object_type') return { members: typeMembers(file, value) }
  const same = file.type(value)
  return same === null ? {} : { value: same }
}

function typeMembers(file: ScriptFile, body: Node): Readonly<Record<string, Reference>> {
  return certain(
    file.parts(body).flatMap((part): Members => {
      const name = file.memberName(part)
      const kind = file.kind(part)
      if (name !== null && kind === 'property_signature') return [[name, file.type(file.child(part, 'type'))]]
      return name !== null && kind === 'method_signature' ? [[name, step(returned(file, part), 'function')]] : []
    }),
  )
}

/** Records the member `x` that an assignment `this.x = …` declares in a class without a field of that name. */
function shapeAssigned(file: ScriptFile, node: Node): void {
  const left = file.child(node, 'left')
  const { self } = file.scope(node).frame
  if (file.kind(left) !== 'member_expression' || file.kind(file.child(left, 'object')) !== 'this') return
  const name = file.textAt(left, 'property')
  if (self === null || file.draft.shapes.get(self.key)?.members?.[name] !== undefined) return
  const value = valueWritten(file, file.parent(node), file.child(node, 'right'))
  if (value !== null) file.shape(self.key, { members: { [name]: value } })
}
