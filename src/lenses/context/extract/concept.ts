/**
 * What is read out of one file: concepts, and references from them to names that another file may hold. Plain JSON data,
 * so that a store can keep it and only the files that changed are read again. Resolving references is `resolve/`. And which
 * language a file is in, by its name, and why a file is not read at all.
 */

export type ConceptType =
  | 'Module'
  | 'Class'
  | 'Interface'
  | 'TypeAlias'
  | 'Enum'
  | 'Function'
  | 'Method'
  | 'Constant'
  | 'Package'
  | 'Document'
  | 'Section'
  | 'Entity'
  | 'Caveat'

/** Hard, moderate and weak ties. */
export const HARD = 1
export const MODERATE = 0.5
const WEAK = 0.1

export const WEIGHTS = {
  DEPENDS_ON: HARD,
  EXTENDS: HARD,
  IMPLEMENTS: HARD,
  CONTAINS: HARD,
  DEFINED_IN: HARD,
  CALLS: MODERATE,
  USES: MODERATE,
  LINKS_TO: MODERATE,
  MENTIONS: WEAK,
} as const
export type Relation = keyof typeof WEIGHTS

/** A concept as read from its file; it has no id yet. */
export interface ReadConcept {
  /**
   * Unique in its file and stable while the declaration keeps its place: `<type> <qualified name>`, from the second on
   * with `~2`.
   */
  readonly key: string
  readonly type: ConceptType
  /** `load`, `Store.load`; of a module or document its path. */
  readonly name: string
  /** Qualified by all enclosing declarations: `outer.Store.load`. */
  readonly qualifiedName: string
  /** From 1, both included. */
  readonly startLine: number
  readonly endLine: number
  /** The declaration up to its body on one line; empty where there is none. */
  readonly signature: string
  /** The documentation comment without its marks; empty where there is none. */
  readonly doc: string
}

/** How to find what a piece of source speaks of. Evaluated in the file it was read from. */
export type Reference =
  /** A concept of the same file, by key. */
  | { readonly local: string }
  /** What a module exports by that name; null: the module itself. */
  | { readonly module: string; readonly name: string | null }
  /** A member of a namespace, a class or a value. */
  | { readonly of: Reference; readonly member: string }
  | { readonly of: Reference; readonly step: Step }
  /** A name that nothing in the file declares. Never resolved; kept for reading. */
  | { readonly name: string }

/** Whether it is a name that nothing in the file declares. */
export function isUndeclared(reference: Reference): reference is { readonly name: string } {
  return 'name' in reference && !('module' in reference)
}

/**
 * `call`: what a call gives. `instance`: a value of that class or type. `list`, `map`, `function`: a value that holds,
 * maps to or returns such values. `element`: what iterating gives.
 */
export type Step = 'call' | 'instance' | 'list' | 'map' | 'function' | 'element'

export interface FileReference {
  /** Key of a concept of the file. */
  readonly source: string
  readonly relation: Relation
  readonly target: Reference
  readonly weight: number
}

/** What other files can see of a symbol, beyond its being there. */
export interface Shape {
  /** Class and interface: what it builds on. */
  readonly bases?: readonly Reference[]
  /** Values of members by name; methods among them. */
  readonly members?: Readonly<Record<string, Reference>>
  /** Function and method: what a call gives. */
  readonly returns?: Reference
  /** Type alias and constant: what it stands for. */
  readonly value?: Reference
}

/** All that resolving the references of another file may ask about this one. Same surface: other files need no new look. */
export interface Surface {
  readonly language: Language
  /** Keys of the file's concepts, first the file's own. */
  readonly keys: readonly string[]
  /** Name -> what it is. `default` and `export=` as in ECMAScript and CommonJS. */
  readonly exports: Readonly<Record<string, Reference>>
  /** Modules whose exports are exported here as well. */
  readonly stars: readonly string[]
  readonly shapes: Readonly<Record<string, Shape>>
  /** The package that the file says it is of, where a package is several files. */
  readonly package?: string
  /** What a file that steers module resolution says. */
  readonly settings?: ModuleSettings
  /** Markdown: anchor -> key of the section. */
  readonly anchors?: Readonly<Record<string, string>>
}

/** The parts of a package.json, tsconfig.json or go.mod that say where modules are. */
export interface ModuleSettings {
  readonly kind: 'package' | 'compiler' | 'go'
  readonly name?: string
  readonly entry?: readonly string[]
  readonly exports?: unknown
  readonly imports?: unknown
  readonly baseUrl?: string
  readonly paths?: Readonly<Record<string, readonly string[]>>
  readonly extends?: readonly string[]
  /** Of a tsconfig.json that only leads to others. */
  readonly references?: readonly string[]
}

/** Another way of reading files, or of keeping what was read: all files are read again. */
export const READING_VERSION = 11

export interface Extraction {
  readonly path: string
  /** SHA-256 of the text: the same text gives the same extraction. */
  readonly hash: string
  readonly concepts: readonly ReadConcept[]
  readonly references: readonly FileReference[]
  readonly surface: Surface
  /** The parser met something it did not know; what could be read was. */
  readonly hasErrors: boolean
}

/** In place of the name of a module or package: the package that the file itself is of. */
export const OWN_PACKAGE = '.'
/** Characters of a name. */
export const MAX_NAME = 200

/** Longer texts are left out. */
export const MAX_CHARACTERS = 10 * 1024 * 1024

/** Why a file was not read: too long, too slow to read, or more concepts than one file may declare. */
export interface Skip {
  readonly reason: 'too_large' | 'too_slow' | 'too_many'
}

interface LanguageFacts {
  /** Of file names, with blanks between them. */
  readonly endings: string
  /** Absent: read without a grammar. */
  readonly grammar?: string
  /** Its name as people write it, where calls are not linked. */
  readonly unlinked?: string
}

const LANGUAGES = {
  typescript: { endings: 'ts mts cts', grammar: 'typescript' },
  tsx: { endings: 'tsx', grammar: 'tsx' },
  javascript: { endings: 'js mjs cjs jsx', grammar: 'javascript' },
  python: { endings: 'py pyi', grammar: 'python' },
  markdown: { endings: 'md markdown mdx' },
  go: { endings: 'go', grammar: 'go' },
  rust: { endings: 'rs', grammar: 'rust' },
  java: { endings: 'java', grammar: 'java' },
  c: { endings: 'c h', grammar: 'cpp', unlinked: 'C' },
  cpp: { endings: 'cc cpp cxx hh hpp hxx ipp', grammar: 'cpp', unlinked: 'C++' },
  csharp: { endings: 'cs', grammar: 'c-sharp', unlinked: 'C#' },
  ruby: { endings: 'rb rake gemspec', grammar: 'ruby', unlinked: 'Ruby' },
  php: { endings: 'php', grammar: 'php', unlinked: 'PHP' },
  json: { endings: 'json jsonc' },
  yaml: { endings: 'yaml yml' },
  toml: { endings: 'toml' },
  text: { endings: '' },
} as const satisfies Readonly<Record<string, LanguageFacts>>
export type Language = keyof typeof LANGUAGES
export type Grammar = Extract<(typeof LANGUAGES)[Language], { readonly grammar: string }>['grammar']

const BY_ENDING: ReadonlyMap<string, Language> = new Map(
  Object.entries(LANGUAGES).flatMap(([language, { endings }]) =>
    endings.split(' ').map(ending => [ending, language as Language] as const),
  ),
)

export function languageOf(path: string): Language {
  return BY_ENDING.get(endingOf(path)) ?? 'text'
}

/** Null: read without a grammar. */
export function grammarOf(language: Language): Grammar | null {
  const facts = LANGUAGES[language]
  return 'grammar' in facts ? facts.grammar : null
}

/** The name of the file's language where its calls are not linked; null: they are, or there are none. */
export function unlinkedLanguage(path: string): string | null {
  const facts = LANGUAGES[languageOf(path)]
  return 'unlinked' in facts ? facts.unlinked : null
}

function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase()
}
