/** What an expression of a script stands for: which symbol, or a value of which class. */
import { isUndeclared, type Reference } from '../concept.ts'
import { NONE, type Node } from '../syntax-tree.ts'
import { returnType, writtenType } from './jsdoc.ts'
import { FUNCTION_VALUES, WRAPPERS } from './kinds.ts'
import { requiredModule } from './required.ts'
import type { Meaning, Scope } from './scope.ts'
import type { ScriptFile } from './script-file.ts'
import { typeReference, type Values, wrap } from './types.ts'

/** An expression nested deeper says nothing. */
const MAX_DEPTH = 24
/** Methods of lists whose first parameter is handed each element. */
const EACH: ReadonlySet<string> = new Set(
  'map filter forEach some every find findIndex findLast flatMap sort toSorted then catch finally'.split(' '),
)

export class ScriptValues implements Values {
  readonly #file: ScriptFile

  constructor(file: ScriptFile) {
    this.#file = file
  }

  /** Null: nothing known. */
  value(node: Node, depth = 0): Reference | null {
    const file = this.#file
    const { tree } = file
    if (node === NONE || depth > MAX_DEPTH) return null
    const kind = tree.kind(node)
    if (WRAPPERS.has(kind)) return this.value(file.inside(node), depth + 1)
    if (FUNCTION_VALUES.has(kind)) return this.#functionValue(node, depth)
    switch (kind) {
      case 'identifier':
      case 'shorthand_property_identifier':
        return this.#named(node, depth)
      case 'this':
        return this.self(node)
      case 'super':
        return this.#base(node)
      case 'member_expression':
      case 'nested_identifier':
        return this.#member(node, depth)
      case 'call_expression':
        return this.#call(node, depth)
      case 'new_expression':
        return this.#created(node, depth)
      case 'as_expression':
        return this.#cast(node, depth)
      case 'subscript_expression':
        return wrap(this.value(tree.child(node, 'object'), depth + 1), 'element')
      case 'assignment_expression':
        return this.value(tree.child(node, 'right'), depth + 1)
      case 'ternary_expression':
        return this.#either(node, 'consequence', 'alternative', depth)
      case 'binary_expression':
        return this.#either(node, 'left', 'right', depth)
      case 'array':
        return wrap(this.value(file.inside(node), depth + 1), 'list')
      case 'spread_element':
        return wrap(this.value(file.inside(node), depth + 1), 'element')
      case 'class': {
        const key = file.classes.get(node)
        return key === undefined ? null : { local: key }
      }
      default:
        return null
    }
  }

  type(node: Node, depth = 0): Reference | null {
    return typeReference(this.#file, node, this, depth)
  }

  meaning(meaning: Meaning, depth: number): Reference | null {
    if (depth > MAX_DEPTH) return null
    switch (meaning.is) {
      case 'concept':
        return { local: meaning.key }
      case 'import':
        return { module: meaning.module, name: meaning.name }
      case 'typed':
        return this.type(meaning.node, depth + 1)
      case 'written':
        return writtenType(this.#file, meaning.type, meaning.at)
      case 'expression':
        return this.value(meaning.node, depth + 1)
      case 'member':
        return this.#partOf(meaning.of, meaning.member, depth)
      case 'element':
        return wrap(this.meaning(meaning.of, depth + 1), 'element')
      case 'argument':
        return this.#argument(meaning.call, depth)
      default:
        return null
    }
  }

  self(node: Node): Reference | null {
    const { self } = this.#file.scope(node)
    if (self === null) return null
    return self.isStatic ? { local: self.key } : { of: { local: self.key }, step: 'instance' }
  }

  /** What a call of the function gives, by its annotation or else by what it returns first. */
  returned(node: Node, depth = 0): Reference | null {
    const { tree } = this.#file
    const annotation = tree.child(node, 'return_type')
    if (annotation !== NONE) return this.type(annotation, depth + 1)
    const written = returnType(this.#file, node)
    if (written !== null) return writtenType(this.#file, written, node)
    const body = tree.child(node, 'body')
    if (body === NONE) return null
    if (tree.kind(body) !== 'statement_block') return this.value(body, depth + 1)
    for (const statement of tree.children(body)) {
      if (tree.kind(statement) === 'return_statement') return this.value(this.#file.inside(statement), depth + 1)
    }
    return null
  }

  #functionValue(node: Node, depth: number): Reference | null {
    const key = this.#file.functions.get(node)
    return key === undefined ? wrap(this.returned(node, depth + 1), 'function') : { local: key }
  }

  #named(node: Node, depth: number): Reference | null {
    const name = this.#file.text(node)
    const meaning = this.#file.scope(node).value(name)
    if (meaning !== null) return this.meaning(meaning, depth + 1)
    const module = requiredModule(this.#file, node)
    return module === null ? { name } : { module, name: null }
  }

  #base(node: Node): Reference | null {
    const self = this.self(node)
    return self === null ? null : { of: self, member: 'super' }
  }

  #member(node: Node, depth: number): Reference | null {
    const { tree } = this.#file
    const member = this.#file.text(tree.child(node, 'property'))
    const within = this.#namespace(tree.child(node, 'object'), depth + 1)?.values.get(member)
    if (within !== undefined) return this.meaning(within, depth + 1)
    const of = this.value(tree.child(node, 'object'), depth + 1)
    if (of === null || isUndeclared(of) || member === '') return null
    return { of, member }
  }

  #namespace(node: Node, depth: number): Scope | null {
    const file = this.#file
    const kind = file.tree.kind(node)
    if (depth > MAX_DEPTH || (kind !== 'identifier' && kind !== 'member_expression')) return null
    const meaning =
      kind === 'identifier'
        ? file.scope(node).value(file.text(node))
        : this.#namespace(file.tree.child(node, 'object'), depth + 1)?.values.get(
            file.text(file.tree.child(node, 'property')),
          )
    return meaning?.is === 'namespace' ? meaning.scope : null
  }

  #call(node: Node, depth: number): Reference | null {
    const { tree } = this.#file
    const module = requiredModule(this.#file, node)
    if (module !== null) return { module, name: null }
    const callee = tree.child(node, 'function')
    const of = this.value(callee, depth + 1)
    return of === null || isUndeclared(of) ? null : { of, step: 'call' }
  }

  #created(node: Node, depth: number): Reference | null {
    const { tree } = this.#file
    const callee = tree.child(node, 'constructor')
    const of = this.value(callee, depth + 1)
    if (of === null) return null
    if (!isUndeclared(of)) return { of, step: 'instance' }
    // `new Map<string, Entry>()`, `new Set(list)`
    const types = tree.child(node, 'type_arguments')
    const parts = tree.parts(types)
    const text = this.#file.text(callee)
    if (/^(?:Weak)?Map$/.test(text)) return wrap(this.type(parts[1] ?? NONE, depth + 1), 'map')
    if (!/^(?:Weak)?Set$|^Array$/.test(text)) return null
    if (parts.length > 0) return wrap(this.type(parts[0] as Node, depth + 1), 'list')
    return this.value(this.#file.inside(tree.child(node, 'arguments')), depth + 1)
  }

  #cast(node: Node, depth: number): Reference | null {
    const [value = NONE, type = NONE] = this.#file.tree.parts(node)
    return type === NONE ? this.value(value, depth + 1) : this.type(type, depth + 1)
  }

  #either(node: Node, first: string, second: string, depth: number): Reference | null {
    const { tree } = this.#file
    return this.value(tree.child(node, first), depth + 1) ?? this.value(tree.child(node, second), depth + 1)
  }

  /** A part of a type written in place is read there. */
  #partOf(of: Meaning, member: string, depth: number): Reference | null {
    if (of.is === 'typed') {
      const { tree } = this.#file
      const object = this.#file.inside(of.node)
      for (const part of tree.kind(object) === 'object_type' ? tree.children(object) : []) {
        if (this.#file.text(tree.child(part, 'name')) === member) return this.type(tree.child(part, 'type'), depth + 1)
      }
    }
    const whole = this.meaning(of, depth + 1)
    return whole === null || isUndeclared(whole) ? null : { of: whole, member }
  }

  /** First parameter of a function handed to `list.map(…)` and the like. */
  #argument(call: Node, depth: number): Reference | null {
    const { tree } = this.#file
    const callee = tree.child(call, 'function')
    const name = this.#file.text(tree.child(callee, 'property'))
    if (tree.kind(callee) !== 'member_expression' || !EACH.has(name)) return null
    const of = this.value(tree.child(callee, 'object'), depth + 1)
    if (of === null || isUndeclared(of)) return null
    return name === 'then' ? of : { of, step: 'element' }
  }
}
