/** What declares, calls and imports in the languages that are read for definitions only, in the words of their grammars. */
import type { ConceptType, Language } from '../concept.ts'

export interface Dialect {
  /** Kinds of nodes that declare a type with members. */
  readonly types: Readonly<Record<string, ConceptType>>
  /** Constants outside of functions, and macros. */
  readonly constants: Readonly<Record<string, ConceptType>>
  /** Functions, and methods where they stand in a type. */
  readonly functions: ReadonlySet<string>
  /** Calls -> the field that holds what is called; empty: the first child. */
  readonly calls: Readonly<Record<string, string>>
  /** Parts of a type that name what it builds on. */
  readonly bases: Readonly<Record<string, 'EXTENDS' | 'IMPLEMENTS'>>
  /** Imports -> how the name of the module is written in them. */
  readonly imports: ReadonlySet<string>
}

const NONE_AT_ALL: Readonly<Record<string, never>> = {}

const CPP: Dialect = {
  types: {
    class_specifier: 'Class',
    struct_specifier: 'Class',
    union_specifier: 'Class',
    enum_specifier: 'Enum',
    type_definition: 'TypeAlias',
    alias_declaration: 'TypeAlias',
  },
  constants: { preproc_def: 'Constant', preproc_function_def: 'Function' },
  functions: new Set(['function_definition']),
  calls: { call_expression: 'function' },
  bases: { base_class_clause: 'EXTENDS' },
  imports: new Set(['preproc_include']),
}

const DIALECTS: Partial<Record<Language, Dialect>> = {
  go: {
    types: { type_spec: 'Class', type_alias: 'TypeAlias' },
    constants: { const_spec: 'Constant' },
    functions: new Set(['function_declaration', 'method_declaration']),
    calls: { call_expression: 'function' },
    bases: NONE_AT_ALL,
    imports: new Set(['import_spec']),
  },
  rust: {
    types: {
      struct_item: 'Class',
      union_item: 'Class',
      enum_item: 'Enum',
      trait_item: 'Interface',
      type_item: 'TypeAlias',
    },
    constants: { const_item: 'Constant', static_item: 'Constant', macro_definition: 'Function' },
    functions: new Set(['function_item', 'function_signature_item']),
    calls: { call_expression: 'function' },
    bases: NONE_AT_ALL,
    imports: new Set(['use_declaration', 'mod_item']),
  },
  java: {
    types: {
      class_declaration: 'Class',
      record_declaration: 'Class',
      interface_declaration: 'Interface',
      annotation_type_declaration: 'Interface',
      enum_declaration: 'Enum',
    },
    constants: NONE_AT_ALL,
    functions: new Set(['method_declaration', 'constructor_declaration']),
    calls: { method_invocation: 'name', object_creation_expression: 'type' },
    bases: { superclass: 'EXTENDS', extends_interfaces: 'EXTENDS', super_interfaces: 'IMPLEMENTS' },
    imports: new Set(['import_declaration']),
  },
  c: CPP,
  cpp: CPP,
  csharp: {
    types: {
      class_declaration: 'Class',
      struct_declaration: 'Class',
      record_declaration: 'Class',
      interface_declaration: 'Interface',
      enum_declaration: 'Enum',
      delegate_declaration: 'TypeAlias',
    },
    constants: NONE_AT_ALL,
    functions: new Set(['method_declaration', 'constructor_declaration', 'local_function_statement']),
    calls: { invocation_expression: 'function', object_creation_expression: 'type' },
    bases: { base_list: 'EXTENDS' },
    imports: new Set(['using_directive']),
  },
  ruby: {
    types: { class: 'Class', module: 'Class' },
    constants: NONE_AT_ALL,
    functions: new Set(['method', 'singleton_method']),
    calls: { call: 'method' },
    bases: { superclass: 'EXTENDS' },
    imports: new Set(['call']),
  },
  php: {
    types: {
      class_declaration: 'Class',
      trait_declaration: 'Class',
      interface_declaration: 'Interface',
      enum_declaration: 'Enum',
    },
    constants: NONE_AT_ALL,
    functions: new Set(['function_definition', 'method_declaration']),
    calls: {
      function_call_expression: 'function',
      member_call_expression: 'name',
      scoped_call_expression: 'name',
      object_creation_expression: '',
    },
    bases: { base_clause: 'EXTENDS', class_interface_clause: 'IMPLEMENTS' },
    imports: new Set([
      'namespace_use_clause',
      'require_expression',
      'require_once_expression',
      'include_expression',
      'include_once_expression',
    ]),
  },
}

/** What a table has for a kind of node, whose name may be one that every object knows (`constructor`). */
export function own<V>(table: Readonly<Record<string, V>>, kind: string): V | undefined {
  return Object.hasOwn(table, kind) ? table[kind] : undefined
}

export function dialectOf(language: Language): Dialect {
  const dialect = DIALECTS[language]
  if (dialect === undefined) throw new Error(`${language} has no dialect`)
  return dialect
}
