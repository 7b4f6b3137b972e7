/** Kinds of nodes of the script grammars that belong together. */

export const FUNCTION_VALUES: ReadonlySet<string> = new Set([
  'arrow_function',
  'function_expression',
  'generator_function',
])

export const FUNCTION_DECLARATIONS: ReadonlySet<string> = new Set([
  'function_declaration',
  'generator_function_declaration',
  'function_signature',
])

export const METHODS: ReadonlySet<string> = new Set([
  'method_definition',
  'abstract_method_signature',
  'method_signature',
])

export const FIELDS: ReadonlySet<string> = new Set(['public_field_definition', 'field_definition'])

export const CLASSES: ReadonlySet<string> = new Set(['class_declaration', 'abstract_class_declaration', 'class'])

/** Open a scope that `let` and `const` stay in. */
export const BLOCKS: ReadonlySet<string> = new Set([
  'statement_block',
  'for_statement',
  'for_in_statement',
  'catch_clause',
  'switch_body',
  'class_static_block',
])

/** Types with parameters of their own. */
export const TYPE_FUNCTIONS: ReadonlySet<string> = new Set([
  'function_type',
  'constructor_type',
  'call_signature',
  'construct_signature',
  'conditional_type',
  'mapped_type_clause',
])

/** Wrappers that do not change which value is meant. */
export const WRAPPERS: ReadonlySet<string> = new Set([
  'parenthesized_expression',
  'non_null_expression',
  'await_expression',
  'satisfies_expression',
])
