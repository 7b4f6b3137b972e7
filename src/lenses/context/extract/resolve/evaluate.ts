/** Follows a reference from file to file until it reaches a declaration, a value of a class, or a module. */
import { OWN_PACKAGE, type Reference, type Shape, type Step } from '../concept.ts'
import { type Facts, MODULES, type Module, ownExport, pythonSubmodule } from './modules.ts'
import { scriptModule } from './script-modules.ts'

export type Value =
  | { readonly is: 'module'; readonly path: string }
  | { readonly is: 'package'; readonly name: string }
  | { readonly is: 'symbol' | 'instance'; readonly path: string; readonly key: string }
  | { readonly is: 'list' | 'map' | 'function'; readonly of: Value }

/** Longest chain of references that is followed; a longer one counts as unresolved. */
const MAX_DEPTH = 48
/**
 * Largest number of look-ups while one file is linked; references left after that stay unresolved. For equal files the limit is always
 * reached at the same reference, so results are reproducible.
 */
const MAX_LOOKS = 500_000
const NO_SHAPE: Shape = {}

/** JavaScript array methods that return an element of the array. */
const PICKS: ReadonlySet<string> = new Set('at pop shift find findLast'.split(' '))
/** JavaScript array methods that return an array with elements of the same type. */
const LISTS: ReadonlySet<string> = new Set(
  'filter slice sort toSorted reverse toReversed concat values toSpliced splice'.split(' '),
)

const FIND: typeof MODULES = { ...MODULES, typescript: scriptModule, tsx: scriptModule, javascript: scriptModule }

export class Evaluator {
  readonly #facts: Facts
  readonly #known = new Map<Reference, Value | null>()
  readonly #modules = new Map<string, Module | null>()
  /**
   * Cache for names in packages that consist of several files: path of the file that declares the name, or null where none or several do.
   */
  readonly #files = new Map<string, string | null>()
  #looks = 0

  constructor(facts: Facts) {
    this.#facts = facts
  }

  /** The value to which a reference leads; null when it cannot be resolved. `path`: the file in which the reference was read. */
  evaluate(reference: Reference, path: string, depth = 0): Value | null {
    const known = this.#known.get(reference)
    if (known !== undefined) return known
    if (depth > MAX_DEPTH || ++this.#looks > MAX_LOOKS) return null
    const value = this.#evaluate(reference, path, depth + 1)
    // Each reference object was read from one file only, so the object alone is the cache key, without the file's path.
    if (depth === 0) this.#known.set(reference, value)
    return value
  }

  module(specifier: string, from: string): Module | null {
    const question = `${from}\n${specifier}`
    const known = this.#modules.get(question)
    if (known !== undefined) return known
    const module = this.#findModule(specifier, from)
    this.#modules.set(question, module)
    return module
  }

  #findModule(specifier: string, from: string): Module | null {
    const language = this.#facts.surface(from)?.language
    const find = language === undefined ? undefined : FIND[language]
    return find === undefined ? null : find(from, specifier, this.#facts)
  }

  #evaluate(reference: Reference, path: string, depth: number): Value | null {
    if ('local' in reference) return { is: 'symbol', path, key: reference.local }
    if ('module' in reference) return this.#imported(reference.module, reference.name, path, false, depth)
    if ('name' in reference) return null
    if ('member' in reference) {
      const of = this.evaluate(reference.of, path, depth)
      return of === null ? null : this.#member(of, reference.member, depth)
    }
    if (reference.step === 'instance' && 'module' in reference.of) {
      const of = this.#imported(reference.of.module, reference.of.name, path, true, depth)
      return of === null ? null : this.#step(of, 'instance', depth)
    }
    const of = this.evaluate(reference.of, path, depth)
    return of === null ? null : this.#step(of, reference.step, depth)
  }

  #imported(specifier: string, name: string | null, from: string, isType: boolean, depth: number): Value | null {
    const module = this.module(specifier, from)
    if (module === null) return null
    if ('package' in module) {
      if (name === null || module.fileOf === undefined) return { is: 'package', name: module.package }
      const file = this.#fileOf(module.fileOf, name, specifier, from)
      return file === null ? null : this.#exported(file, name, new Set(), depth)
    }
    if (name === null) return { is: 'module', path: module.path }
    return (
      (isType ? this.#exported(module.path, `type:${name}`, new Set(), depth) : null) ??
      this.#exportOf(module.path, name, depth)
    )
  }

  #fileOf(find: (name: string) => string | null, name: string, specifier: string, from: string): string | null {
    const question = `${from}\n${specifier}\n${name}`
    const known = this.#files.get(question)
    if (known !== undefined) return known
    const file = find(name)
    this.#files.set(question, file)
    return file
  }

  /**
   * The value that a file exports under a name, by the rules of its language (ECMAScript, CommonJS, Python). `seen`: questions that this
   * search has already asked, to end cycles.
   */
  #exportOf(path: string, name: string, depth: number, seen: Set<string> = new Set()): Value | null {
    const found = this.#exported(path, name, seen, depth)
    if (found !== null) return found
    const surface = this.#facts.surface(path)
    if (surface === null) return null
    if (surface.language === 'python') {
      const module = pythonSubmodule(path, name, this.#facts)
      return module !== null && 'path' in module ? { is: 'module', path: module.path } : null
    }
    const whole = this.#exported(path, 'export=', seen, depth)
    // `import x = require()` of a module that exports names gives the module itself. In JavaScript, so does the default import of such a
    // module.
    if (name === 'export=') return whole ?? { is: 'module', path }
    if (name === 'default') return whole ?? (surface.language === 'javascript' ? { is: 'module', path } : null)
    return whole === null ? null : this.#member(whole, name, depth)
  }

  #exported(path: string, name: string, seen: Set<string>, depth: number): Value | null {
    const question = `${path}\n${name}`
    if (seen.has(question) || depth > MAX_DEPTH || ++this.#looks > MAX_LOOKS) return null
    seen.add(question)
    const surface = this.#facts.surface(path)
    if (surface === null) return null
    const space = name.startsWith('type:') ? 'type:' : ''
    const own = ownExport(surface, name)
    if (own !== undefined && !isNamedImport(own)) return this.evaluate(own, path, depth + 1)
    // The name is exported again from another module; the search continues there, among types or among values as before.
    const passed = own ?? ownExport(surface, name.slice(space.length))
    if (passed !== undefined && isNamedImport(passed)) {
      return this.#reexported(passed.module, space + passed.name, path, seen, depth)
    }
    // An `export *` statement does not include the default export of the other module.
    if (name === 'default' || name === 'export=') return null
    for (const star of surface.stars) {
      const module = this.module(star, path)
      const found = module !== null && 'path' in module ? this.#exported(module.path, name, seen, depth + 1) : null
      if (found !== null) return found
    }
    return null
  }

  #reexported(specifier: string, name: string, from: string, seen: Set<string>, depth: number): Value | null {
    const module = this.module(specifier, from)
    if (module === null) return null
    if ('package' in module) return { is: 'package', name: module.package }
    return this.#exportOf(module.path, name, depth + 1, seen)
  }

  #member(of: Value, name: string, depth: number): Value | null {
    if (depth > MAX_DEPTH || ++this.#looks > MAX_LOOKS) return null
    switch (of.is) {
      case 'module':
        return this.#exportOf(of.path, name, depth + 1)
      case 'symbol':
      case 'instance':
        return this.#memberOfSymbol(of, name, new Set(), depth + 1)
      case 'list':
        return PICKS.has(name) ? { is: 'function', of: of.of } : LISTS.has(name) ? { is: 'function', of } : null
      case 'map':
        if (name === 'get') return { is: 'function', of: of.of }
        return name === 'values' ? { is: 'function', of: { is: 'list', of: of.of } } : null
      default:
        return null
    }
  }

  #memberOfSymbol(of: Value, name: string, seen: Set<string>, depth: number): Value | null {
    if (of.is !== 'symbol' && of.is !== 'instance') return this.#member(of, name, depth)
    if (depth > MAX_DEPTH || ++this.#looks > MAX_LOOKS) return null
    const { path, key } = of
    if (this.#facts.surface(path)?.keys[0] === key) return this.#exportOf(path, name, depth)
    if (seen.has(path + key)) return null
    seen.add(path + key)
    const shape = this.#shape(path, key) ?? NO_SHAPE
    const members = shape.members
    if (name !== 'super' && members !== undefined && Object.hasOwn(members, name)) {
      return this.evaluate(members[name] as Reference, path, depth + 1)
    }
    const elsewhere = name === 'super' ? null : this.#memberElsewhere(path, key, name, depth)
    if (elsewhere !== null) return elsewhere
    for (const base of shape.bases ?? []) {
      const found = this.evaluate(base, path, depth + 1)
      if (found === null) continue
      const value: Value = found.is === 'symbol' ? { ...found, is: of.is } : found
      if (name === 'super') return value
      const member = this.#memberOfSymbol(value, name, seen, depth + 1)
      if (member !== null) return member
    }
    const symbol = shape.value === undefined ? null : this.evaluate(shape.value, path, depth + 1)
    return symbol === null ? null : this.#memberOfSymbol(symbol, name, seen, depth + 1)
  }

  /** The value of a method in Go that another file of the package declares for a type of this file. */
  #memberElsewhere(path: string, key: string, name: string, depth: number): Value | null {
    if (!this.#isGo(path)) return null
    return this.#imported(OWN_PACKAGE, `${key.replace(/^\w+ /, '')}.${name}`, path, false, depth + 1)
  }

  #step(of: Value, step: Step, depth: number): Value | null {
    if (step === 'list' || step === 'map' || step === 'function') return { is: step, of }
    if (depth > MAX_DEPTH || ++this.#looks > MAX_LOOKS) return null
    if (of.is === 'module') {
      const whole = this.#exported(of.path, 'export=', new Set(), depth)
      return whole === null ? null : this.#step(whole, step, depth + 1)
    }
    if (step === 'element')
      return of.is === 'list' || of.is === 'map' ? of.of : this.#stepOfWhatItStandsFor(of, step, depth)
    if (step === 'call' && of.is === 'function') return of.of
    if (of.is !== 'symbol') return this.#stepOfWhatItStandsFor(of, step, depth)
    const shape = this.#shape(of.path, of.key)
    if (step === 'instance') {
      // In Go, a type that is defined by another type does not have the methods of the other type.
      const isOwn = shape?.members !== undefined || (shape?.value === undefined && this.#isGo(of.path))
      const isName = /^(?:TypeAlias|Constant) /.test(of.key) && !isOwn
      return isName ? this.#named(of, shape, depth) : { ...of, is: 'instance' }
    }
    if (of.key.startsWith('Class ')) return { ...of, is: 'instance' }
    if (shape?.returns !== undefined) return this.evaluate(shape.returns, of.path, depth + 1)
    return this.#stepOfWhatItStandsFor(of, step, depth)
  }

  /**
   * The value to which a named declaration leads: for a type alias, a value of the type that it names; for a constant that holds a class,
   * an instance of that class.
   */
  #named(of: Value & { path: string; key: string }, shape: Shape | null, depth: number): Value | null {
    const value = shape?.value === undefined ? null : this.evaluate(shape.value, of.path, depth + 1)
    if (of.key.startsWith('TypeAlias ') || value === null) return value
    return this.#step(value, 'instance', depth + 1)
  }

  #stepOfWhatItStandsFor(of: Value, step: Step, depth: number): Value | null {
    if (of.is !== 'symbol' && of.is !== 'instance') return null
    const value = this.#shape(of.path, of.key)?.value
    const symbol = value === undefined ? null : this.evaluate(value, of.path, depth + 1)
    return symbol === null ? null : this.#step(symbol, step, depth + 1)
  }

  #isGo(path: string): boolean {
    return this.#facts.surface(path)?.language === 'go'
  }

  #shape(path: string, key: string): Shape | null {
    const shapes = this.#facts.surface(path)?.shapes
    return shapes !== undefined && Object.hasOwn(shapes, key) ? (shapes[key] as Shape) : null
  }
}

function isNamedImport(reference: Reference): reference is { readonly module: string; readonly name: string } {
  return 'module' in reference && reference.name !== null
}
