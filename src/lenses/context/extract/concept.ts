/**
 * What is read out of one file: concepts, and references from them to names that another file may declare. Plain JSON data, so that a store
 * can keep it and only changed files are read again; references are resolved in `resolve/`. Also the language of a file by its name, and
 * the reasons why a file is not read.
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

/** Weights of links between concepts: hard, moderate and weak. */
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

/** A concept as read from its file, without an id. */
export interface ReadConcept {
  /**
   * Key of the concept, unique in its file and stable while the declaration keeps its place: `<type> <qualified name>`, with `~2` and so on
   * where the name is repeated.
   */
  readonly key: string
  readonly type: ConceptType
  /** Name of the concept: `load`, `Store.load`; for a module or document its path. */
  readonly name: string
  /** Name with all enclosing declarations: `outer.Store.load`. */
  readonly qualifiedName: string
  /** First line of the concept, counted from 1; start and end are both included. */
  readonly startLine: number
  readonly endLine: number
  /** The declaration up to its body on one line; empty where there is none. */
  readonly signature: string
  /** The documentation comment without comment marks; empty where there is none. */
  readonly doc: string
}

/** A path by which to find what a piece of source refers to. It is evaluated relative to the file that it was read from. */
export type Reference =
  /** Refers to a concept of the same file, by key. */
  | { readonly local: string }
  /** Refers to what a module exports by that name; null: the module itself. */
  | { readonly module: string; readonly name: string | null }
  /** Refers to a member of a namespace, a class or a value. */
  | { readonly of: Reference; readonly member: string }
  | { readonly of: Reference; readonly step: Step }
  /** A name that nothing in the file declares. Never resolved; kept for readers of the extraction. */
  | { readonly name: string }

/** Whether the reference is a name that nothing in the file declares. */
export function isUndeclared(reference: Reference): reference is { readonly name: string } {
  return 'name' in reference && !('module' in reference)
}

/**
 * Step from one value to another. `call`: the result of calling it. `instance`: a value of that class or type. `list`, `map`, `function`: a
 * value that holds, maps to or returns such values. `element`: what iterating gives.
 */
export type Step = 'call' | 'instance' | 'list' | 'map' | 'function' | 'element'

export interface FileReference {
  /** Key of the concept in this file that refers. */
  readonly source: string
  readonly relation: Relation
  readonly target: Reference
  readonly weight: number
}

/** What other files can see of a symbol, beyond its existence. */
export interface Shape {
  /** For a class or interface: the types that it extends or implements. */
  readonly bases?: readonly Reference[]
  /** Values of members, methods included, by name. */
  readonly members?: Readonly<Record<string, Reference>>
  /** For a function or method: the value that a call returns. */
  readonly returns?: Reference
  /** For a type alias or constant: what it stands for. */
  readonly value?: Reference
}

/**
 * Everything that resolving another file's references may ask about this file. While it is unchanged, links of other files need not be
 * resolved again.
 */
export interface Surface {
  readonly language: Language
  /** Keys of the file's concepts; the first is the concept of the file itself. */
  readonly keys: readonly string[]
  /** Exported names and what they refer to. `default` and `export=` as in ECMAScript and CommonJS. */
  readonly exports: Readonly<Record<string, Reference>>
  /** Modules whose exports this file re-exports as a whole (`export *`). */
  readonly stars: readonly string[]
  readonly shapes: Readonly<Record<string, Shape>>
  /** The package that the file says it belongs to, in languages where a package is several files. */
  readonly package?: string
  /** Settings of a file that controls module resolution. */
  readonly settings?: ModuleSettings
  /** For Markdown: keys of sections by anchor. */
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
  /** Other settings that a tsconfig.json refers to by `references`. */
  readonly references?: readonly string[]
}

/** Version of how files are read and stored; when it changes, all files are read again. */
export const READING_VERSION = 11

export interface Extraction {
  readonly path: string
  /** SHA-256 of the text: the same text gives the same extraction. */
  readonly hash: string
  readonly concepts: readonly ReadConcept[]
  readonly references: readonly FileReference[]
  readonly surface: Surface
  /** Whether the parser found a syntax error; what could be read is kept. */
  readonly hasErrors: boolean
}

/** Stands for a package name in a reference: the package that the file itself belongs to. */
export const OWN_PACKAGE = '.'
/** Longest name of a concept, in characters. */
export const MAX_NAME = 200

/** Longest text of a file, in characters; longer files are skipped. */
export const MAX_CHARACTERS = 10 * 1024 * 1024

/** Why a file was not read: too long, too slow to read, or more concepts than one file may declare. */
export interface Skip {
  readonly reason: 'too_large' | 'too_slow' | 'too_many'
}

interface LanguageFacts {
  /** Endings of file names in this language, separated by blanks. */
  readonly endings: string
  /** The grammar's name; absent for a language that is read without one. */
  readonly grammar?: string
  /** The language's usual name, where its calls are not linked. */
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

/** Grammar of the language; null where it is read without one. */
export function grammarOf(language: Language): Grammar | null {
  const facts = LANGUAGES[language]
  return 'grammar' in facts ? facts.grammar : null
}

/** Name of the file's language where its calls are not linked; null when they are, or the file has none. */
export function unlinkedLanguage(path: string): string | null {
  const facts = LANGUAGES[languageOf(path)]
  return 'unlinked' in facts ? facts.unlinked : null
}

function endingOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? '' : name.slice(dot + 1).toLowerCase()
}
