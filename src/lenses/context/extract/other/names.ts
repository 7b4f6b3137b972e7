/** How a language writes the name of what it declares, calls and imports. */
import type { Language } from '../concept.ts'
import { NONE, type Node, type SyntaxTree } from '../syntax-tree.ts'

export interface DeclaredName {
  readonly name: string
  /** The type that it belongs to, where the declaration says so itself. */
  readonly owner: string | null
  readonly selfName?: string | null
}

export interface CalledName {
  readonly name: string
  /** `self`: the object itself; null: nothing in front; otherwise as written. */
  readonly receiver: string | null
}

const MAX_DECLARATORS = 12

export function declaredName(tree: SyntaxTree, node: Node, language: Language): DeclaredName | null {
  const name = tree.child(node, 'name')
  if (language === 'go' && tree.kind(node) === 'method_declaration') {
    const receiver = tree.textOf(tree.child(node, 'receiver'))
    return {
      name: tree.textOf(name),
      selfName: /^\(\s*(\w+)\s/.exec(receiver)?.[1] ?? null,
      owner: /([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$/.exec(receiver)?.[1] ?? null,
    }
  }
  if (name !== NONE) return { name: tree.textOf(name), owner: null }
  let declarator = tree.child(node, 'declarator')
  for (let step = 0; declarator !== NONE && step < MAX_DECLARATORS; step++) {
    const kind = tree.kind(declarator)
    if (/^(?:identifier|field_identifier|destructor_name|operator_name)$/.test(kind)) {
      return { name: tree.textOf(declarator), owner: null }
    }
    if (kind === 'qualified_identifier') {
      const parts = tree
        .textOf(declarator)
        .replace(/\s|<[^<>]*>/g, '')
        .split('::')
        .slice(-2)
      return { name: parts[1] ?? '', owner: parts[0] ?? null }
    }
    const inner = tree.child(declarator, 'declarator')
    declarator = inner === NONE ? firstNamed(tree, declarator) : inner
  }
  return null
}

/** `a.b.f()`: f on `a.b`. */
export function calledName(tree: SyntaxTree, call: Node, field: string): CalledName | null {
  const callee = field === '' ? firstNamed(tree, call) : tree.child(call, field)
  if (callee === NONE) return null
  const beside = ['object', 'receiver', 'scope'].map(name => tree.child(call, name)).find(node => node !== NONE)
  const front = beside === undefined ? '' : `${tree.textOf(beside).slice(0, 200)}.`
  const written = front + tree.textOf(callee).slice(0, 200)
  const parts = written.replace(/\s|<[^<>]*>/g, '').split(/->|::|\.|\\/)
  const name = parts.pop() ?? ''
  if (!/^[\p{L}_~$][\p{L}\p{N}_$?!]*$/u.test(name)) return null
  const receiver = parts.length === 0 ? null : parts.join('.')
  return {
    name,
    receiver: receiver !== null && /^(?:this|self|Self|\$this|static|@self)$/.test(receiver) ? 'self' : receiver,
  }
}

/** Modules that an import names, in the form that `resolve/plain-modules.ts` reads; empty where it imports nothing. */
export function importedModules(tree: SyntaxTree, node: Node, language: Language): string[] {
  const text = tree.textOf(node).slice(0, 500)
  switch (language) {
    case 'go':
      return matches(text, /["`]([^"`]+)["`]/)
    case 'java':
      return matches(text, /^import\s+(?:static\s+)?([\w.]+?)(?:\.[A-Z]\w*(?:\.\w+)*)?(?:\.\*)?\s*;/)
    case 'csharp':
      return matches(text, /^(?:global\s+)?using\s+(?:static\s+)?(?:\w+\s*=\s*)?([\w.]+)\s*;/)
    case 'c':
    case 'cpp':
      return matches(text, /#\s*include\s*(<[^>]+>|"[^"]+")/)
    case 'rust':
      if (tree.kind(node) === 'mod_item')
        return tree.child(node, 'body') === NONE ? matches(text, /mod\s+(\w+)\s*;/).map(name => `./${name}`) : []
      return matches(text, /use\s+(?:::)?(\w+)/).filter(name => !/^(?:crate|self|super)$/.test(name))
    case 'ruby':
      return [
        ...matches(text, /^require\s*\(?\s*["']([^"'#]+)["']/),
        ...matches(text, /^require_relative\s*\(?\s*["']([^"'#]+)["']/).map(name => `./${name}`),
      ]
    case 'php': {
      const file = matches(text, /^(?:require|include)(?:_once)?\s*\(?\s*(?:__DIR__\s*\.\s*)?["']([^"'$]+)["']/)
      if (file.length > 0) return file.map(name => `./${name.replace(/^\//, '')}`)
      return tree.kind(node) === 'namespace_use_clause' ? matches(text, /^\\?(\w+)\\/) : []
    }
    default:
      return []
  }
}

function matches(text: string, pattern: RegExp): string[] {
  const found = pattern.exec(text)?.[1]
  return found === undefined ? [] : [found]
}

function firstNamed(tree: SyntaxTree, node: Node): Node {
  for (const child of tree.children(node)) if (!tree.kind(child).startsWith(':')) return child
  return NONE
}
